import { compare, getRounds, hash, hashSync } from 'bcrypt';
import type { Hashing } from './hashing-pool';

const inThisThread: Hashing = {
  hash: (password, cost) => hash(password, cost),
  compare: async (password, passwordHash, _address, padding = []) => {
    const matches = await compare(password, passwordHash);
    for (const hash of padding) await compare(password, hash);
    return matches;
  },
};

/** Password hashes, whose cost may be raised over the years. */
export class Passwords {
  /** Hashes that are compared for a phone without an account, by cost. */
  private readonly dummies = new Map<number, string>();

  constructor(
    private readonly cost: number,
    private readonly bcrypt: Hashing = inThisThread,
  ) {}

  /** Hashes as a job of `address`. */
  async hash(password: string, address = ''): Promise<string> {
    return this.bcrypt.hash(password, this.cost, address);
  }

  /**
   * Compares in the same time with and without an account, and for hashes of any cost. A comparison of cost c is
   * followed by comparisons of cost c, c + 1, …, which together take as long as one of the present cost. All of them
   * are one job of the hashing queue, so that the waiting time is the same too.
   */
  async matches(password: string, passwordHash: string | undefined, address = ''): Promise<boolean> {
    if (!passwordHash) {
      await this.bcrypt.compare(password, this.dummyHash(this.cost), address);
      return false;
    }
    const padding: string[] = [];
    for (let cost = getRounds(passwordHash); cost < this.cost; cost += 1) padding.push(this.dummyHash(cost));
    return this.bcrypt.compare(password, passwordHash, address, padding);
  }

  isOutdated(passwordHash: string): boolean {
    return getRounds(passwordHash) < this.cost;
  }

  private dummyHash(cost: number): string {
    const known = this.dummies.get(cost);
    if (known !== undefined) return known;
    // A salt and a digest of the right form: comparing costs as much as with a real hash, and never matches.
    const made = hashSync('', 4).replace('$04$', `$${String(cost).padStart(2, '0')}$`);
    this.dummies.set(cost, made);
    return made;
  }
}
