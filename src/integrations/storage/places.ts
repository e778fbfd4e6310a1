import { Unavailable } from '../../errors';

/** Places for work that takes room. A key has a few of them, so that no one sender takes all. */
export class Places {
  private readonly taken = new Map<string, number>();
  private inAll = 0;

  constructor(
    private readonly perKey: number,
    private readonly most: number,
  ) {}

  /** Returns what gives the place back; calling it again does nothing. */
  take(key: string): () => void {
    const own = this.taken.get(key) ?? 0;
    if (own >= this.perKey || this.inAll >= this.most)
      throw new Unavailable('too many uploads at once: try again shortly');
    this.taken.set(key, own + 1);
    this.inAll += 1;
    let isTaken = true;
    return () => {
      if (isTaken) this.giveBack(key);
      isTaken = false;
    };
  }

  private giveBack(key: string): void {
    const left = (this.taken.get(key) ?? 1) - 1;
    this.inAll -= 1;
    if (left > 0) this.taken.set(key, left);
    else this.taken.delete(key);
  }
}
