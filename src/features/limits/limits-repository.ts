import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { prepared } from '../../database/prepared';

/** One use of a limit by one subject. */
export interface Bucket {
  key: string;
  amount: number;
  seconds: number;
}

/** A bucket that was taken from, as it is now. */
export interface TakenBucket {
  key: string;
  used: number;
  /** Until it is empty again. */
  seconds: number;
}

/** A place that counts until it is settled or given back, and for HOLD_SECONDS at most. */
export interface HeldPlace {
  key: string;
  ends: number;
}

export interface FullBucket {
  key: string;
  /** Until it is empty again. */
  seconds: number;
  /** Whether the audit trail has been told. */
  noted: boolean;
}

/** Longer than any request may take. */
const HOLD_SECONDS = 30;
/** When places are only held, one may be free again soon. */
const HELD_RETRY_SECONDS = 2;

/** Buckets in PostgreSQL, on its clock, so that any number of instances share them. */
export class LimitsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Takes one from each bucket and returns them. One statement decides, however many requests arrive at once; rows are
   * locked in the order of their keys, so that takers never wait in a circle. When one is known to be full none is
   * taken from: the limit of one address, met over and over, must not use up that of all. A bucket that only becomes full
   * in this moment is missing from the result.
   */
  async take(buckets: Bucket[]): Promise<TakenBucket[]> {
    const { rows } = await prepared<TakenBucket>(this.db, 'take-limits', TAKE, columnsOf(buckets));
    return rows;
  }

  /** The same, for uses of which it is not known yet whether they count. */
  async hold(buckets: Bucket[]): Promise<HeldPlace[]> {
    const { rows } = await prepared<HeldPlace>(this.db, 'hold-limits', HOLD, columnsOf(buckets));
    return rows;
  }

  /** They count. */
  async settle(places: HeldPlace[]): Promise<void> {
    await prepared(
      this.db,
      'settle-limits',
      `WITH places AS (SELECT * FROM unnest(?::text[], ?::bigint[]) AS one (key, ends)),
       locked AS (SELECT key, ends FROM rate_limits JOIN places USING (key) ORDER BY key FOR UPDATE OF rate_limits)
       UPDATE rate_limits bucket SET used = used + 1, held = rate_limits_without(held, ends)
         FROM locked WHERE bucket.key = locked.key`,
      placesOf(places),
    );
  }

  /** They do not count. A bucket that is empty again is no row: a request that is refused leaves nothing behind. */
  async free(places: HeldPlace[]): Promise<void> {
    await prepared(
      this.db,
      'free-limits',
      `WITH places AS (SELECT * FROM unnest(?::text[], ?::bigint[]) AS one (key, ends)),
       locked AS (
         SELECT key, used, rate_limits_without(rate_limits_live(held), ends) AS held
           FROM rate_limits JOIN places USING (key) ORDER BY key FOR UPDATE OF rate_limits),
       emptied AS (DELETE FROM rate_limits WHERE key IN (SELECT key FROM locked WHERE used <= 0 AND held = '{}'))
       UPDATE rate_limits bucket SET held = locked.held
         FROM locked WHERE bucket.key = locked.key AND NOT (locked.used <= 0 AND locked.held = '{}')`,
      placesOf(places),
    );
  }

  /** Takes back what `take` took. */
  async giveBack(keys: string[]): Promise<void> {
    await prepared(
      this.db,
      'give-limits-back',
      `WITH locked AS (
         SELECT key, used, held FROM rate_limits
          WHERE key = ANY (?::text[]) AND resets_at > now() ORDER BY key FOR UPDATE),
       emptied AS (DELETE FROM rate_limits WHERE key IN (SELECT key FROM locked WHERE used <= 1 AND held = '{}'))
       UPDATE rate_limits SET used = used - 1
        WHERE key IN (SELECT key FROM locked WHERE NOT (used <= 1 AND held = '{}')) AND used > 0`,
      [keys],
    );
  }

  /** The full ones among the buckets. */
  async full(buckets: Bucket[]): Promise<FullBucket[]> {
    const { rows } = await prepared<FullBucket>(
      this.db,
      'full-limits',
      `SELECT key,
              CASE WHEN used < most THEN ${HELD_RETRY_SECONDS} ELSE extract(epoch FROM resets_at - now()) END::float8 AS seconds,
              noted OR used < most AS noted
         FROM (SELECT key, CASE WHEN resets_at > now() THEN used ELSE 0 END AS used, held, resets_at, noted, most
                 FROM rate_limits JOIN unnest(?::text[], ?::integer[]) AS wanted (key, most) USING (key)) AS bucket
        WHERE used + cardinality(rate_limits_live(held)) >= most`,
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
    // Not while places may be held in it.
    await deleteInBatches(this.db, 'rate_limits', 'resets_at <= now() - make_interval(secs => ?)', [HOLD_SECONDS]);
  }
}

const USED = 'CASE WHEN bucket.resets_at <= now() THEN 0 ELSE bucket.used END';

/** Adds one use and no place, or no use and one place; `result` is what is returned beside the key. */
function taking(uses: 0 | 1, place: string, result: string): string {
  return `
    WITH wanted AS (SELECT * FROM unnest(?::text[], ?::integer[], ?::integer[]) AS one (key, amount, seconds))
    INSERT INTO rate_limits AS bucket (key, used, amount, resets_at, held)
    SELECT key, ${uses}, amount, now() + make_interval(secs => seconds), ${place} FROM wanted
     WHERE NOT EXISTS (SELECT FROM rate_limits one JOIN wanted USING (key)
                        WHERE one.resets_at > now() AND one.used >= wanted.amount)
     ORDER BY key
    ON CONFLICT (key) DO UPDATE SET
      used = ${USED} + ${uses},
      held = rate_limits_live(bucket.held) || excluded.held,
      resets_at = CASE WHEN bucket.resets_at <= now() THEN excluded.resets_at ELSE bucket.resets_at END,
      amount = excluded.amount,
      noted = bucket.noted AND bucket.resets_at > now()
    WHERE ${USED} + cardinality(rate_limits_live(bucket.held)) < excluded.amount
    RETURNING key, ${result}`;
}

const TAKE = taking(1, `'{}'::bigint[]`, 'used, extract(epoch FROM resets_at - now())::float8 AS seconds');
const HOLD = taking(
  0,
  `ARRAY[rate_limits_now() + ${HOLD_SECONDS * 1_000_000}]`,
  'bucket.held[cardinality(bucket.held)] AS ends',
);

function columnsOf(buckets: Bucket[]): [string[], number[], number[]] {
  return [buckets.map(({ key }) => key), buckets.map(({ amount }) => amount), buckets.map(({ seconds }) => seconds)];
}

function placesOf(places: HeldPlace[]): [string[], number[]] {
  return [places.map(({ key }) => key), places.map(({ ends }) => ends)];
}
