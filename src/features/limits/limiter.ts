import type { Caller } from '../../base/caller';
import type { AppError } from '../../base/errors';
import { networksOf, senderOf } from '../../base/networks';
import type { Limit, LimitName, Limits } from '../../load/limits';
import type { Queues } from '../../load/queues';
import { FullBuckets } from './full-buckets';
import type { Bucket, FullBucket, LimitsRepository } from './limits-repository';

/** One request, as it counts against one limit. */
export interface Use {
  limit: LimitName | Limit;
  subject: string;
  /** Counts as so many, 1 unless said. As long as one is left, all are taken. `hold` takes one. */
  count?: number;
}

/** A use of one bucket: a limit by address has one for each network that the address is in. */
interface Wanted extends Bucket {
  limit: Limit;
  subject: string;
}

/** Uses that were counted, and can be given back when they turn out not to count. */
export interface Taken {
  giveBack(): Promise<void>;
  /** Those by address stay taken. */
  giveBackButAddress(): Promise<void>;
}

/** Uses of which it is not known yet whether they count. */
export interface Held extends Pick<Taken, 'giveBack'> {
  /** These count, and the others are given back; all count when none are named. */
  settle(counted?: Use[]): Promise<void>;
}

/** Told once a window of each limit that a caller has met, for the audit trail. */
export type LimitMet = (use: { limit: Limit; subject: string }, caller: Caller) => Promise<void>;

const nothing = () => Promise.resolve();
const NOTHING: Held & Taken = { giveBack: nothing, giveBackButAddress: nothing, settle: nothing };

/** Counts a use against every given limit, or against none of them. */
export class Limiter {
  private readonly full = new FullBuckets();

  constructor(
    private readonly buckets: LimitsRepository,
    readonly limits: Limits,
    private readonly limitMet: LimitMet,
    private readonly queues: Pick<Queues, 'counts'>,
  ) {}

  /** Throws the refusal when a limit is met. */
  async take(caller: Caller, ...uses: Use[]): Promise<Taken> {
    const wanted = this.wanted(uses);
    if (wanted.length === 0) return NOTHING;
    const full = await this.queues.counts.run(lineOf(wanted, caller), () => this.tryToTake(wanted));
    if (full.length > 0) return this.refuse(wanted, full, caller);
    return {
      giveBack: () => this.giveBack(wanted),
      giveBackButAddress: () => this.giveBack(wanted.filter(({ limit }) => limit.per !== 'address')),
    };
  }

  /**
   * Like `take`, for uses that may turn out not to count. Until they are settled they count, for 30 seconds at most.
   */
  async hold(caller: Caller, ...uses: Use[]): Promise<Held> {
    const wanted = this.wanted(uses);
    if (wanted.length === 0) return NOTHING;
    const known = this.full.knownOrToAsk(rememberable(wanted));
    if (known.length > 0) return this.refuse(wanted, known, caller);
    const places = await this.buckets.hold(wanted);
    const missing = without(wanted, places);
    if (missing.length > 0 && places.length > 0) await this.buckets.free(places);
    const full = await this.fullOf(missing, wanted);
    if (full.length > 0) return this.refuse(wanted, full, caller);
    return {
      giveBack: () => this.buckets.free(places),
      settle: (counted) => {
        const keys = counted && this.wanted(counted).map(({ key }) => key);
        return this.buckets.settle(places, ({ key }) => keys === undefined || keys.includes(key));
      },
    };
  }

  /** The error that `take` would throw now, or undefined. Takes nothing. */
  async refusalOf(...uses: Use[]): Promise<AppError | undefined> {
    const wanted = this.wanted(uses);
    const full = await this.fullNow(wanted);
    return full.length === 0 ? undefined : worst(wanted, full);
  }

  /** Throws the error that `take` would throw now. Takes nothing. */
  async check(caller: Caller, ...uses: Use[]): Promise<void> {
    const wanted = this.wanted(uses);
    const full = await this.fullNow(wanted);
    if (full.length > 0) await this.refuse(wanted, full, caller);
  }

  /** The same, where that is known from a moment ago: the database is not asked. */
  async checkKnown(caller: Caller, ...uses: Use[]): Promise<void> {
    const wanted = this.wanted(uses);
    const known = this.full.known(rememberable(wanted));
    if (known.length > 0) await this.refuse(wanted, known, caller);
  }

  async clear(limit: LimitName, subject: string): Promise<void> {
    const key = keyOf(this.limits[limit], subject);
    await this.buckets.clear(key);
    this.full.forget(key);
  }

  /** Clears a limit for a subject and for every pair that begins with it. */
  async clearAll(limit: LimitName, subject: string): Promise<void> {
    const prefix = keyOf(this.limits[limit], subject);
    await this.buckets.clearAll(prefix);
    this.full.forgetAll(prefix);
  }

  /** The buckets that these uses count in, but for limits that are lifted. */
  wanted(uses: Use[]): Wanted[] {
    return uses.flatMap(({ limit: which, subject, count = 1 }) => {
      const limit = typeof which === 'string' ? this.limits[which] : which;
      if (limit.amount === 0) return [];
      const networks = limit.per === 'address' ? networksOf(subject) : [{ network: subject, times: 1 }];
      return networks.map(({ network, times }) => ({
        ...{ limit, subject: network, key: keyOf(limit, network) },
        ...{ amount: limit.amount * times, seconds: limit.seconds, uses: count },
      }));
    });
  }

  /** Nothing is taken when something is full. */
  private async tryToTake(wanted: Wanted[]): Promise<FullBucket[]> {
    const known = this.full.knownOrToAsk(rememberable(wanted));
    if (known.length > 0) return known;
    const taken = await this.buckets.take(wanted);
    const missing = without(wanted, taken);
    if (missing.length > 0 && taken.length > 0) await this.buckets.giveBack(without(wanted, missing));
    return this.fullOf(missing, wanted);
  }

  private async giveBack(wanted: Wanted[]): Promise<void> {
    await this.buckets.giveBack(wanted);
    for (const { key } of wanted) this.full.forget(key);
  }

  private async fullNow(wanted: Wanted[]): Promise<FullBucket[]> {
    if (wanted.length === 0) return [];
    const known = this.full.knownOrToAsk(rememberable(wanted));
    if (known.length > 0) return known;
    const full = await this.buckets.full(wanted);
    this.full.learn(full, rememberable(wanted));
    return full;
  }

  /** Those of `wanted` that have refused are `missing`; there may be none. */
  private async fullOf(missing: Wanted[], wanted: Wanted[]): Promise<FullBucket[]> {
    const full = missing.length > 0 ? await this.buckets.full(missing) : [];
    this.full.learn(full, rememberable(wanted));
    if (full.length > 0) return full;
    // The window has ended since the refusal.
    return missing.map(({ key, amount }) => ({ key, used: amount, seconds: 1, noted: true }));
  }

  /** A bucket that is found full again and again is noted once. */
  private async refuse(wanted: Wanted[], full: FullBucket[], caller: Caller): Promise<never> {
    const unnoted = full.filter(({ noted }) => !noted).map(({ key }) => key);
    const first = unnoted.length > 0 ? await this.buckets.note(unnoted) : [];
    for (const use of wanted) if (first.includes(use.key)) await this.limitMet(use, caller);
    throw worst(wanted, full);
  }
}

/** Counts of one sender wait for each other, so that they leave the connections to others. */
function lineOf(wanted: Wanted[], { address }: Caller): string {
  const byAddress = wanted.some(({ limit }) => limit.per === 'address');
  return `${wanted[0]?.limit.name}:${byAddress ? senderOf(address) : wanted[0]?.subject}`;
}

/**
 * Buckets that may be held to be full for a moment. Of a phone none: once its owner has set a new password, every
 * instance lets them in at once.
 */
function rememberable(wanted: Wanted[]): Wanted[] {
  return wanted.filter(({ limit }) => limit.per !== 'phone');
}

function without(wanted: Wanted[], others: { key: string }[]): Wanted[] {
  return wanted.filter(({ key }) => !others.some((other) => other.key === key));
}

/** Where several limits are met, the reason is that of the first, and the wait the longest that has this reason. */
function worst(wanted: Wanted[], full: FullBucket[]): AppError {
  const [first, ...others] = wanted.flatMap(({ key, amount, limit }) => {
    const met = full.find((bucket) => bucket.key === key);
    return met ? [limit.refusal(Math.max(1, met.seconds), met.used / amount)] : [];
  });
  if (first === undefined) throw new Error('no limit was met');
  const longer = (one: AppError, other: AppError) =>
    other.reason === first.reason && (other.retryAfterSeconds ?? 0) > (one.retryAfterSeconds ?? 0) ? other : one;
  return others.reduce(longer, first);
}

function keyOf({ name }: Limit, subject: string): string {
  return `${name}:${subject}`;
}
