import { compare, getRounds, hash, hashSync } from 'bcrypt';
import type { Hashing } from './hashing-pool';

/** Password hashes, at a cost that may be raised over the years. */
export class Passwords {
  /** What is compared for a phone without an account, by the cost. */
  private readonly nobodys = new Map<number, string>();

  constructor(
    private readonly cost: number,
    private readonly bcrypt: Hashing = { hash, compare },
  ) {}

  async hash(password: string): Promise<string> {
    return this.bcrypt.hash(password, this.cost);
  }

  /**
   * Does the same work whether there is an account or not, and whatever cost its hash was made at: a hash of cost c is
   * filled up with comparisons of cost c, c + 1, …, which together with it make one of the present cost.
   */
  async matches(password: string, passwordHash: string | undefined): Promise<boolean> {
    if (!passwordHash) {
      await this.bcrypt.compare(password, this.nobody(this.cost));
      return false;
    }
    const matches = await this.bcrypt.compare(password, passwordHash);
    for (let cost = getRounds(passwordHash); cost < this.cost; cost += 1)
      await this.bcrypt.compare(password, this.nobody(cost));
    return matches;
  }

  isOutdated(passwordHash: string): boolean {
    return getRounds(passwordHash) < this.cost;
  }

  private nobody(cost: number): string {
    const known = this.nobodys.get(cost);
    if (known !== undefined) return known;
    // A salt and a digest of the right form: comparing costs as much as with a real one, and never matches.
    const made = hashSync('', 4).replace('$04$', `$${String(cost).padStart(2, '0')}$`);
    this.nobodys.set(cost, made);
    return made;
  }
}
