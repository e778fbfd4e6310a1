import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { statement } from '../../database/statement';

/** The count of one subject's uses of a limit. */
export interface Bucket {
  key: string;
  amount: number;
  seconds: number;
  /** Uses to count at once, by default 1. The last uses may exceed the amount, so that any number fits. */
  uses?: number;
}

/** A use that counts until it is settled or given back, at most for HOLD_SECONDS. */
export interface HeldUse {
  key: string;
  ends: number;
}

export interface FullBucket {
  key: string;
  used: number;
  /** Seconds until the bucket is empty again. */
  seconds: number;
  /** Whether the audit trail has it. */
  noted: boolean;
}

/** Lifetime of a held use: longer than any request may take. */
const HOLD_SECONDS = 30;
/** Wait when uses are only held, since one may be given back soon. */
const HELD_RETRY_SECONDS = 2;

const USED = 'CASE WHEN bucket.resets_at <= now() THEN 0 ELSE bucket.used END';
const MICROSECONDS = 'floor(extract(epoch FROM clock_timestamp()) * 1e6)::bigint';
/** Held uses that have not ended. A function in SQL would double the cost of a limit. */
const LIVE = `CASE bucket.held WHEN '{}' THEN bucket.held
              ELSE ARRAY(SELECT ends FROM unnest(bucket.held) AS ends WHERE ends > ${MICROSECONDS}) END`;

type Columns = 'keys' | 'amounts' | 'lengths' | 'uses';
type Changed = 'keys' | 'ends' | 'uses';

/** Joins rows of `from` with their buckets. OFFSET 0 makes PostgreSQL use the key, even if the table seems small. */
function bucketOf(from: string, locked = ''): string {
  return `${from}, LATERAL (SELECT * FROM rate_limits WHERE key = ${from}.key ${locked} OFFSET 0) AS bucket`;
}

/** Adds either uses or one held use. The held uses of a row end at different times, so that each can be removed. */
function taking(uses: '0' | 'uses', firstHeld: string, held: string, result: string): string {
  return `
    WITH wanted AS (SELECT * FROM unnest(:keys::text[], :amounts::integer[], :lengths::integer[], :uses::integer[])
                                        AS one (key, amount, seconds, uses))
    INSERT INTO rate_limits AS bucket (key, used, amount, resets_at, held)
    SELECT key, ${uses}, amount, now() + make_interval(secs => seconds), ${firstHeld} FROM wanted
     WHERE NOT EXISTS (SELECT FROM ${bucketOf('wanted')}
                        WHERE bucket.resets_at > now() AND bucket.used >= wanted.amount)
     ORDER BY key
    ON CONFLICT (key) DO UPDATE SET
      used = ${USED} + excluded.used,
      held = ${held},
      resets_at = CASE WHEN bucket.resets_at <= now() THEN excluded.resets_at ELSE bucket.resets_at END,
      amount = excluded.amount,
      noted = bucket.noted AND bucket.resets_at > now()
    WHERE ${USED} + cardinality(${LIVE}) < excluded.amount
    RETURNING ${result}`;
}

const take = statement<Pick<Bucket, 'key'>, Columns>('take-limits', taking('uses', `'{}'::bigint[]`, LIVE, 'key'));

const hold = statement<HeldUse, Columns>(
  'hold-limits',
  taking(
    '0',
    `ARRAY[${MICROSECONDS} + ${HOLD_SECONDS * 1_000_000}]`,
    `${LIVE} || greatest(excluded.held[1], bucket.held[cardinality(bucket.held)] + 1)`,
    'key, held[cardinality(held)] AS ends',
  ),
);

/**
 * Raises or lowers the number of uses, and removes held ones. The INSERT always finds the row, which is locked. An UPDATE
 * might make PostgreSQL read the whole table.
 */
const change = statement<unknown, Changed>(
  'change-limits',
  `WITH changes AS (SELECT * FROM unnest(:keys::text[], :ends::bigint[], :uses::integer[]) AS one (key, ends, uses)
                    ORDER BY key OFFSET 0),
   changed AS (
     SELECT bucket.key, greatest(0, bucket.used + uses) AS used, amount, resets_at, array_remove(${LIVE}, ends) AS held
       FROM ${bucketOf('changes', 'FOR UPDATE')}),
   emptied AS (DELETE FROM rate_limits WHERE key IN (SELECT key FROM changed WHERE used = 0 AND held = '{}'))
   INSERT INTO rate_limits (key, used, amount, resets_at, held)
   SELECT key, used, amount, resets_at, held FROM changed WHERE NOT (used = 0 AND held = '{}')
   ON CONFLICT (key) DO UPDATE SET used = excluded.used, held = excluded.held`,
);

const full = statement<FullBucket, 'keys' | 'amounts'>(
  'full-limits',
  `SELECT key, used,
          CASE WHEN used < amount THEN ${HELD_RETRY_SECONDS} ELSE extract(epoch FROM resets_at - now()) END::float8 AS seconds,
          noted OR used < amount AS noted
     FROM (SELECT wanted.*, ${USED} AS used, cardinality(${LIVE}) AS held, bucket.resets_at, bucket.noted
             FROM (SELECT * FROM unnest(:keys::text[], :amounts::integer[]) AS one (key, amount)) AS ${bucketOf('wanted')}) AS found
    WHERE used + found.held >= amount`,
);

const note = statement<{ key: string }, 'keys'>(
  'note-limits',
  `UPDATE rate_limits SET noted = true WHERE NOT noted AND key = ANY (ARRAY(
     SELECT key FROM rate_limits WHERE key = ANY (:keys::text[]) AND NOT noted ORDER BY key FOR UPDATE))
   RETURNING key`,
);

const clear = statement<unknown, 'key'>('clear-limit', 'DELETE FROM rate_limits WHERE key = :key');

/** Buckets in PostgreSQL, on its clock, so that any number of instances share them. */
export class LimitsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Takes from each bucket and returns the buckets. One statement decides, however many requests arrive at once. It
   * locks rows in the order of their keys, so that two statements cannot deadlock. When a bucket is full, it takes from
   * none, so that an address over its own limit does not use up the limit of all. A bucket that becomes full at this
   * very moment is missing from the result.
   */
  async take(buckets: Bucket[]): Promise<Pick<Bucket, 'key'>[]> {
    return take(this.db, columnsOf(buckets));
  }

  /** Like `take`, for uses that may turn out not to count. */
  async hold(buckets: Bucket[]): Promise<HeldUse[]> {
    return hold(this.db, columnsOf(buckets));
  }

  /** Turns held uses that count into uses and gives the others back, in one statement. */
  async settle(held: HeldUse[], counts: (use: HeldUse) => boolean): Promise<void> {
    await this.change(held.map((use) => ({ ...use, uses: counts(use) ? 1 : 0 })));
  }

  /** Gives held uses back without counting them. Deletes rows of empty buckets, so that refused requests leave none. */
  async free(held: HeldUse[]): Promise<void> {
    await this.settle(held, () => false);
  }

  /** Undoes `take`. */
  async giveBack(buckets: Pick<Bucket, 'key' | 'uses'>[]): Promise<void> {
    await this.change(buckets.map(({ key, uses = 1 }) => ({ key, ends: null, uses: -uses })));
  }

  /** Returns the full ones among the buckets. */
  async findFull(buckets: Bucket[]): Promise<FullBucket[]> {
    return full(this.db, columnsOf(buckets));
  }

  /** Marks buckets as noted. Returns the keys of those that were not yet noted in their present windows. */
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
    // Not while a bucket may have held uses.
    await deleteInBatches(this.db, 'rate_limits', 'resets_at <= now() - make_interval(secs => ?)', [HOLD_SECONDS]);
  }

  private async change(changes: { key: string; ends: number | null; uses: number }[]): Promise<void> {
    const column = (name: 'key' | 'ends' | 'uses') => changes.map((one) => one[name]);
    await change(this.db, { keys: column('key'), ends: column('ends'), uses: column('uses') });
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
