import { forAll } from './attempt';

/** Shares a call in progress among all callers with the same key: they get its answer or its failure. */
export class SharedCalls<T> {
  private readonly underWay = new Map<string, Promise<T>>();

  run(key: string, call: () => Promise<T>): Promise<T> {
    const known = this.underWay.get(key);
    if (known) return known;
    const begun = forAll(call).finally(() => this.underWay.delete(key));
    this.underWay.set(key, begun);
    return begun;
  }
}
