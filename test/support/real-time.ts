/** Waits for real time where it is what the test is about. Everything else is waited for by `until`. */
export function realTime(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
