/** Waits for real time, in tests about time. Other tests wait with `until`. */
export function realTime(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
