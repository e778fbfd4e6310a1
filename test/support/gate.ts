/** A place where code waits until the test opens it. */
export class Gate {
  private come: () => void = () => {};
  private go: () => void = () => {};
  readonly reached = new Promise<void>((resolve) => (this.come = resolve));
  private readonly opened = new Promise<void>((resolve) => (this.go = resolve));

  wait(): Promise<void> {
    this.come();
    return this.opened;
  }

  open(): void {
    this.go();
  }
}
