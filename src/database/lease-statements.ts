interface Leased {
  /** A table with `due_at` and `attempts`, and its key. */
  table: string;
  key: string;
  /** Condition for the row that an instance has taken, and has not lost since. */
  held: string;
  /** Seconds for which an instance has a row, unless it renews its lease. */
  seconds: number;
  /** Seconds until the attempt after the first failure, and the longest until another one. */
  pauses: [first: number, longest: number];
  /** Interval of failures after which the row, or a part of it, is given up. */
  patience: string;
}

interface Taking {
  /** Further conditions for rows that can be taken, each with an AND before it. */
  and?: string;
  set?: string[];
  returning: string;
}

/**
 * SQL for rows that instances share: one instance at a time has a row. It counts its attempts, and lets the row wait
 * longer after each failure. A row whose instance has died is due again at the end of the lease.
 */
export class LeaseStatements {
  readonly ms: number;
  /** The time before which a failure is too old to go on. */
  readonly tooOld: string;
  private readonly ahead: string;

  constructor(private readonly of: Leased) {
    this.ms = of.seconds * 1_000;
    this.tooOld = `now() - interval '${of.patience}'`;
    this.ahead = `due_at = now() + interval '${of.seconds} seconds'`;
  }

  /** Takes rows that are due, and those later than any is put off: they are from before the database's clock was set back. */
  take({ and = '', set = [], returning }: Taking): string {
    const { table, key, pauses } = this.of;
    const some = (isDue: string) => `
      ARRAY(SELECT ${key} FROM ${table} WHERE ${isDue} ${and}
             ORDER BY due_at LIMIT :most::integer FOR UPDATE SKIP LOCKED)`;
    return `
      UPDATE ${table} SET ${[...set, this.ahead, 'attempts = attempts + 1'].join()}
       WHERE ${key} = ANY (
             ${some('due_at <= now()')} || ${some(`due_at > now() + interval '${2 * pauses[1]} seconds'`)})
      RETURNING ${returning}`;
  }

  /** Keeps other instances from the row for another lease. */
  renew(...set: string[]): string {
    return this.change(...set, this.ahead);
  }

  /** Lets the row be taken at once, as if it had not been. */
  release(...set: string[]): string {
    return this.change(...set, 'due_at = now()', 'attempts = 0');
  }

  /** Lets the row wait twice as long as after the failure before. */
  putOff(...set: string[]): string {
    const [first, longest] = this.of.pauses;
    const pause = `least(${longest}, ${first} * 2 ^ (least(attempts, 16) - 1))`;
    return this.change(...set, `due_at = now() + make_interval(secs => ${pause})`);
  }

  private change(...set: string[]): string {
    return `UPDATE ${this.of.table} SET ${set.join()} WHERE ${this.of.held}`;
  }
}
