/** Blocks the event loop, like a pause of the machine or a long piece of work. */
export function standStill(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}
