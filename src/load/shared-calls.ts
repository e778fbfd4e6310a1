/** Calls that are under way: whoever asks for the same one meanwhile shares its answer, or its failure. */
export class SharedCalls<T> {
  private readonly underWay = new Map<string, Promise<T>>();

  run(key: string, call: () => Promise<T>): Promise<T> {
    const known = this.underWay.get(key);
    if (known) return known;
    const begun = call().finally(() => this.underWay.delete(key));
    this.underWay.set(key, begun);
    return begun;
  }
}
