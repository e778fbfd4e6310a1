/** Holds the event loop, as a pause of the machine or a long piece of work does. */
export function standStill(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}
