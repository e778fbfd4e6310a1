import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { prepared } from '../../database/prepared';

/** One use of a limit by one subject. */
export interface Bucket {
  key: string;
  amount: number;
  seconds: number;
}

export interface FullBucket {
  key: string;
  /** Until it is empty again. */
  seconds: number;
  /** Whether the audit trail has been told. */
  noted: boolean;
}

/** Buckets in PostgreSQL, on its clock, so that any number of instances share them. */
export class LimitsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Takes one from each bucket and returns their keys. One statement decides, however many requests arrive at once; rows
   * are locked in the order of their keys, so that takers never wait in a circle. When one is known to be full none is
   * taken from: the limit of one address, met over and over, must not use up that of all. A bucket that only becomes full
   * in this moment is missing from the keys.
   */
  async take(buckets: Bucket[]): Promise<string[]> {
    const { rows } = await prepared<{ key: string }>(
      this.db,
      'take-limits',
      `WITH wanted AS (SELECT * FROM unnest(?::text[], ?::integer[], ?::integer[]) AS one (key, amount, seconds))
       INSERT INTO rate_limits AS held (key, used, amount, resets_at)
       SELECT key, 1, amount, now() + make_interval(secs => seconds) FROM wanted
        WHERE NOT EXISTS (SELECT FROM rate_limits one JOIN wanted USING (key)
                           WHERE one.resets_at > now() AND one.used >= wanted.amount)
        ORDER BY key
       ON CONFLICT (key) DO UPDATE SET
         used = CASE WHEN held.resets_at <= now() THEN 1 ELSE held.used + 1 END,
         resets_at = CASE WHEN held.resets_at <= now() THEN excluded.resets_at ELSE held.resets_at END,
         amount = excluded.amount,
         noted = held.noted AND held.resets_at > now()
       WHERE held.resets_at <= now() OR held.used < excluded.amount
       RETURNING key`,
      [buckets.map(({ key }) => key), buckets.map(({ amount }) => amount), buckets.map(({ seconds }) => seconds)],
    );
    return rows.map(({ key }) => key);
  }

  /** A bucket that is empty again is no row: who is refused leaves nothing behind. */
  async giveBack(keys: string[]): Promise<void> {
    await prepared(
      this.db,
      'give-limits-back',
      `WITH held AS (
         SELECT key, used FROM rate_limits WHERE key = ANY (?::text[]) AND resets_at > now() ORDER BY key FOR UPDATE),
       emptied AS (DELETE FROM rate_limits WHERE key IN (SELECT key FROM held WHERE used <= 1))
       UPDATE rate_limits SET used = used - 1 WHERE key IN (SELECT key FROM held WHERE used > 1)`,
      [keys],
    );
  }

  /** The full ones among the buckets. */
  async full(buckets: Bucket[]): Promise<FullBucket[]> {
    const { rows } = await prepared<FullBucket>(
      this.db,
      'full-limits',
      `SELECT key, extract(epoch FROM resets_at - now())::float8 AS seconds, noted
         FROM rate_limits JOIN unnest(?::text[], ?::integer[]) AS wanted (key, most) USING (key)
        WHERE resets_at > now() AND used >= most`,
      [buckets.map(({ key }) => key), buckets.map(({ amount }) => amount)],
    );
    return rows;
  }

  /** Returns the keys of those that nobody has noted before, in their present windows. */
  async note(keys: string[]): Promise<string[]> {
    const { rows } = await this.db.raw<{ rows: { key: string }[] }>(
      `UPDATE rate_limits SET noted = true WHERE NOT noted AND key IN (
         SELECT key FROM rate_limits WHERE key = ANY (?::text[]) AND NOT noted ORDER BY key FOR UPDATE)
       RETURNING key`,
      [keys],
    );
    return rows.map(({ key }) => key);
  }

  async clear(key: string): Promise<void> {
    await prepared(this.db, 'clear-limit', 'DELETE FROM rate_limits WHERE key = ?', [key]);
  }

  /** Clears the buckets whose keys begin with `prefix`. */
  async clearAll(prefix: string): Promise<void> {
    await this.db('rate_limits').where('key', '>=', prefix).where('key', '<', `${prefix}\u{10ffff}`).delete();
  }

  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'rate_limits', 'resets_at <= now()');
  }
}
