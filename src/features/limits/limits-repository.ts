import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { statement } from '../../database/statement';

/** One use of a limit by one subject. */
export interface Bucket {
  key: string;
  amount: number;
  seconds: number;
  /** Uses at once, 1 unless said. The last ones may go beyond the amount, so that there is room for any number. */
  uses?: number;
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
  used: number;
  /** Until it is empty again. */
  seconds: number;
  /** Whether the audit trail has been told. */
  noted: boolean;
  /** By uses alone: no place that is held can be given back. */
  spent: boolean;
}

/** Longer than any request may take. */
const HOLD_SECONDS = 30;
/** When places are only held, one may be free again soon. */
const HELD_RETRY_SECONDS = 2;

const USED = 'CASE WHEN bucket.resets_at <= now() THEN 0 ELSE bucket.used END';

type Columns = 'keys' | 'amounts' | 'lengths' | 'uses';
type Places = 'keys' | 'ends';

/** Adds uses and no place, or no use and one place; `result` is returned beside the key. */
function taking(uses: '0' | 'uses', place: string, result: string): string {
  return `
    WITH wanted AS (SELECT * FROM unnest(:keys::text[], :amounts::integer[], :lengths::integer[], :uses::integer[])
                                        AS one (key, amount, seconds, uses))
    INSERT INTO rate_limits AS bucket (key, used, amount, resets_at, held)
    SELECT key, ${uses}, amount, now() + make_interval(secs => seconds), ${place} FROM wanted
     WHERE NOT EXISTS (SELECT FROM rate_limits one JOIN wanted USING (key)
                        WHERE one.resets_at > now() AND one.used >= wanted.amount)
     ORDER BY key
    ON CONFLICT (key) DO UPDATE SET
      used = ${USED} + excluded.used,
      held = rate_limits_live(bucket.held) || excluded.held,
      resets_at = CASE WHEN bucket.resets_at <= now() THEN excluded.resets_at ELSE bucket.resets_at END,
      amount = excluded.amount,
      noted = bucket.noted AND bucket.resets_at > now()
    WHERE ${USED} + cardinality(rate_limits_live(bucket.held)) < excluded.amount
    RETURNING key, ${result}`;
}

const take = statement<TakenBucket, Columns>(
  'take-limits',
  taking('uses', `'{}'::bigint[]`, 'used, extract(epoch FROM resets_at - now())::float8 AS seconds'),
);

const hold = statement<HeldPlace, Columns>(
  'hold-limits',
  taking(
    '0',
    `ARRAY[rate_limits_now() + ${HOLD_SECONDS * 1_000_000}]`,
    'bucket.held[cardinality(bucket.held)] AS ends',
  ),
);

const release = statement<unknown, Places | 'uses'>(
  'release-limits',
  `WITH places AS (SELECT * FROM unnest(:keys::text[], :ends::bigint[], :uses::integer[]) AS one (key, ends, uses)),
   locked AS (
     SELECT key, used + uses AS used, rate_limits_without(rate_limits_live(held), ends) AS held
       FROM rate_limits JOIN places USING (key) ORDER BY key FOR UPDATE OF rate_limits),
   emptied AS (DELETE FROM rate_limits WHERE key IN (SELECT key FROM locked WHERE used <= 0 AND held = '{}'))
   UPDATE rate_limits bucket SET used = locked.used, held = locked.held
     FROM locked WHERE bucket.key = locked.key AND NOT (locked.used <= 0 AND locked.held = '{}')`,
);

const giveBack = statement<unknown, 'keys' | 'uses'>(
  'give-limits-back',
  `WITH returned AS (SELECT * FROM unnest(:keys::text[], :uses::integer[]) AS one (key, uses)),
   locked AS (
     SELECT key, used - uses AS used, held FROM rate_limits JOIN returned USING (key)
      WHERE resets_at > now() ORDER BY key FOR UPDATE OF rate_limits),
   emptied AS (DELETE FROM rate_limits WHERE key IN (SELECT key FROM locked WHERE used <= 0 AND held = '{}'))
   UPDATE rate_limits bucket SET used = greatest(0, locked.used)
     FROM locked WHERE bucket.key = locked.key AND NOT (locked.used <= 0 AND locked.held = '{}')`,
);

const full = statement<FullBucket, 'keys' | 'amounts'>(
  'full-limits',
  `SELECT key, used,
          CASE WHEN used < most THEN ${HELD_RETRY_SECONDS} ELSE extract(epoch FROM resets_at - now()) END::float8 AS seconds,
          noted OR used < most AS noted,
          used >= most AS spent
     FROM (SELECT key, CASE WHEN resets_at > now() THEN used ELSE 0 END AS used, held, resets_at, noted, most
             FROM rate_limits JOIN unnest(:keys::text[], :amounts::integer[]) AS wanted (key, most) USING (key)) AS bucket
    WHERE used + cardinality(rate_limits_live(held)) >= most`,
);

const note = statement<{ key: string }, 'keys'>(
  'note-limits',
  `UPDATE rate_limits SET noted = true WHERE NOT noted AND key IN (
     SELECT key FROM rate_limits WHERE key = ANY (:keys::text[]) AND NOT noted ORDER BY key FOR UPDATE)
   RETURNING key`,
);

const clear = statement<unknown, 'key'>('clear-limit', 'DELETE FROM rate_limits WHERE key = :key');

/** Buckets in PostgreSQL, on its clock, so that any number of instances share them. */
export class LimitsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Takes from each bucket and returns the buckets. One statement decides, however many requests arrive at once. It
   * locks rows in the order of their keys, so that two never wait for each other. When a bucket is full, none is taken
   * from, so that an address over its own limit does not use up the limit of all. A bucket that becomes full in this
   * very moment is missing from the result.
   */
  async take(buckets: Bucket[]): Promise<TakenBucket[]> {
    return take(this.db, columnsOf(buckets));
  }

  /** The same, for uses of which it is not known yet whether they count. */
  async hold(buckets: Bucket[]): Promise<HeldPlace[]> {
    return hold(this.db, columnsOf(buckets));
  }

  /** Those that are counted become uses, the others are free again, in one statement. */
  async settle(counted: HeldPlace[], others: HeldPlace[]): Promise<void> {
    const uses = [...counted.map(() => 1), ...others.map(() => 0)];
    await release(this.db, { ...placesOf([...counted, ...others]), uses });
  }

  /** They do not count. The row of an empty bucket is deleted, so that a refused request leaves no row. */
  async free(places: HeldPlace[]): Promise<void> {
    await this.settle([], places);
  }

  /** Undoes `take`. */
  async giveBack(buckets: Pick<Bucket, 'key' | 'uses'>[]): Promise<void> {
    await giveBack(this.db, { keys: buckets.map(({ key }) => key), uses: buckets.map(({ uses = 1 }) => uses) });
  }

  /** The full ones among the buckets. */
  async full(buckets: Bucket[]): Promise<FullBucket[]> {
    return full(this.db, columnsOf(buckets));
  }

  /** Returns the keys of those that were not noted before, in their present windows. */
  async note(keys: string[]): Promise<string[]> {
    return (await note(this.db, { keys })).map(({ key }) => key);
  }

  async clear(key: string): Promise<void> {
    await clear(this.db, { key });
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

function columnsOf(buckets: Bucket[]): Record<Columns, unknown> {
  return {
    keys: buckets.map(({ key }) => key),
    amounts: buckets.map(({ amount }) => amount),
    lengths: buckets.map(({ seconds }) => seconds),
    uses: buckets.map(({ uses = 1 }) => uses),
  };
}

function placesOf(places: HeldPlace[]): Record<Places, unknown> {
  return { keys: places.map(({ key }) => key), ends: places.map(({ ends }) => ends) };
}
