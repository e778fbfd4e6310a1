import type { Caller } from '../../base/caller';
import type { AppError } from '../../base/errors';
import { networksOf, senderOf } from '../../base/networks';
import { Tally } from '../../base/tally';
import type { Limit, LimitName, Limits } from '../../load/limits';
import type { Queues } from '../../load/queues';
import { FullBuckets } from './full-buckets';
import type { Bucket, FullBucket, LimitsRepository } from './limits-repository';

/** A use of one limit by one request. */
export interface LimitUse {
  limit: LimitName | Limit;
  subject: string;
  /** Number of uses, by default 1. All are taken as long as one is left. `hold` takes one. */
  count?: number;
}

/** A use of one bucket. A limit per address has a bucket for each network that the address is in. */
interface Wanted extends Bucket {
  limit: Limit;
  subject: string;
  uses: number;
}

/** Uses that were counted. They can be given back if they turn out not to count. */
export interface CountedUses {
  giveBack(): Promise<void>;
  /** Gives back all uses except those of limits per address. */
  giveBackButAddress(): Promise<void>;
  /** Lets uses that were taken with a count have this one instead. Throws the refusal if it is more, and a limit is met. */
  countAs(count: number): Promise<void>;
}

/** Uses that may turn out not to count. */
export interface PendingUses extends Pick<CountedUses, 'giveBack'> {
  /** Counts these uses, by default all, and gives back the others. */
  settle(counted?: LimitUse[]): Promise<void>;
}

/** Called when a caller meets a limit, once per window of that limit. */
export type LimitMet = (use: { limit: Limit; subject: string }, caller: Caller) => Promise<void> | void;

const nothing = () => Promise.resolve();
const NOTHING: PendingUses & CountedUses = {
  giveBack: nothing,
  giveBackButAddress: nothing,
  countAs: nothing,
  settle: nothing,
};

/** Counts a use against every given limit, or against none of them. */
export class Limiter {
  /** Refusals by limit. */
  readonly met: Tally;
  private readonly full = new FullBuckets();
  private readonly listeners: LimitMet[] = [];

  constructor(
    private readonly buckets: LimitsRepository,
    readonly limits: Limits,
    private readonly queues: Pick<Queues, 'counts'>,
  ) {
    this.met = new Tally(Object.values(limits).map(({ name }) => name));
  }

  onMet(listener: LimitMet): void {
    this.listeners.push(listener);
  }

  /** Counts the uses, or throws the refusal when a limit is met. */
  async take(caller: Caller, ...uses: LimitUse[]): Promise<CountedUses> {
    const wanted = this.wanted(uses);
    if (wanted.length === 0) return NOTHING;
    await this.takeOrRefuse(wanted, caller);
    const withoutCount = this.wanted(uses.filter(({ count }) => count === undefined));
    return {
      giveBack: () => this.giveBack(wanted),
      giveBackButAddress: () => this.giveBack(wanted.filter(({ limit }) => limit.per !== 'address')),
      countAs: (count) => this.recount(without(wanted, withoutCount), count, caller),
    };
  }

  /** Like `take`, for uses that may turn out not to count. They count until they are settled, at most 30 seconds. */
  async hold(caller: Caller, ...uses: LimitUse[]): Promise<PendingUses> {
    const wanted = this.wanted(uses);
    if (wanted.length === 0) return NOTHING;
    const known = this.full.knownOrToAsk(rememberable(wanted));
    if (known.length > 0) return this.refuse(wanted, known, caller);
    const held = await this.buckets.hold(wanted);
    const missing = without(wanted, held);
    if (missing.length > 0 && held.length > 0) await this.buckets.free(held);
    const full = await this.fullOf(missing, wanted);
    if (full.length > 0) return this.refuse(wanted, full, caller);
    return {
      giveBack: () => this.buckets.free(held),
      settle: (counted) => {
        const keys = counted && this.wanted(counted).map(({ key }) => key);
        return this.buckets.settle(held, ({ key }) => keys === undefined || keys.includes(key));
      },
    };
  }

  /** Returns the error that `take` would throw now, or undefined. Takes nothing. */
  async refusalOf(...uses: LimitUse[]): Promise<AppError | undefined> {
    const wanted = this.wanted(uses);
    const full = await this.fullNow(wanted);
    return full.length === 0 ? undefined : worst(wanted, full);
  }

  /** Throws the error that `take` would throw now. Takes nothing. */
  async check(caller: Caller, ...uses: LimitUse[]): Promise<void> {
    const wanted = this.wanted(uses);
    const full = await this.fullNow(wanted);
    if (full.length > 0) await this.refuse(wanted, full, caller);
  }

  /** Like `check`, but only by what is known from a moment ago: does not ask the database. */
  async checkKnown(caller: Caller, ...uses: LimitUse[]): Promise<void> {
    const wanted = this.wanted(uses);
    const known = this.full.known(rememberable(wanted));
    if (known.length > 0) await this.refuse(wanted, known, caller);
  }

  /** Whether a limit is used up for good until its window ends: held uses may be given back. */
  async isUsedUp(...uses: LimitUse[]): Promise<boolean> {
    const wanted = this.wanted(uses);
    if (wanted.length === 0) return false;
    const amounts = new Map(wanted.map(({ key, amount }) => [key, amount]));
    const full = await this.buckets.findFull(wanted);
    return full.some(({ key, used }) => used >= (amounts.get(key) ?? Infinity));
  }

  clear(limit: LimitName, subject: string): Promise<void> {
    return this.clearBucket(keyOf(this.limits[limit], subject));
  }

  async clearBucket(key: string): Promise<void> {
    await this.buckets.clear(key);
    this.full.forget(key);
  }

  /** Clears a limit for a subject and for every pair that begins with it. */
  async clearAll(limit: LimitName, subject: string): Promise<void> {
    const prefix = keyOf(this.limits[limit], subject);
    await this.buckets.clearAll(prefix);
    this.full.forgetAll(prefix);
  }

  /** Returns the buckets that these uses count in. Leaves out limits that are switched off. */
  private wanted(uses: LimitUse[]): Wanted[] {
    return uses.flatMap(({ limit: which, subject, count = 1 }) => {
      const limit = typeof which === 'string' ? this.limits[which] : which;
      if (limit.amount === 0) return [];
      const networks = limit.per === 'address' ? networksOf(subject) : [{ network: subject, times: 1 }];
      return networks.map(({ network: subject, times }) => {
        const { amount, seconds } = limit;
        return { limit, subject, key: keyOf(limit, subject), amount: amount * times, seconds, uses: count };
      });
    });
  }

  /** Takes nothing when a bucket is full. Returns the full buckets. */
  private async tryToTake(wanted: Wanted[]): Promise<FullBucket[]> {
    const known = this.full.knownOrToAsk(rememberable(wanted));
    if (known.length > 0) return known;
    const taken = await this.buckets.take(wanted);
    const missing = without(wanted, taken);
    if (missing.length > 0 && taken.length > 0) await this.buckets.giveBack(without(wanted, missing));
    return this.fullOf(missing, wanted);
  }

  private async takeOrRefuse(wanted: Wanted[], caller: Caller): Promise<void> {
    const full = await this.queues.counts.run(queueKey(wanted, caller), () => this.tryToTake(wanted));
    if (full.length > 0) await this.refuse(wanted, full, caller);
  }

  /** Changes taken uses, so that giving them back gives back as many. */
  private async recount(taken: Wanted[], count: number, caller: Caller): Promise<void> {
    const changes = taken.map((use) => ({ ...use, uses: count - use.uses })).filter(({ uses }) => uses !== 0);
    if (changes.length === 0) return;
    if (changes.every(({ uses }) => uses > 0)) await this.takeOrRefuse(changes, caller);
    else await this.giveBack(changes.map((use) => ({ ...use, uses: -use.uses })));
    for (const use of taken) use.uses = count;
  }

  private async giveBack(wanted: Wanted[]): Promise<void> {
    await this.buckets.giveBack(wanted);
    for (const { key } of wanted) this.full.forget(key);
  }

  private async fullNow(wanted: Wanted[]): Promise<FullBucket[]> {
    if (wanted.length === 0) return [];
    const known = this.full.knownOrToAsk(rememberable(wanted));
    if (known.length > 0) return known;
    const full = await this.buckets.findFull(wanted);
    this.full.learn(full, rememberable(wanted));
    return full;
  }

  /** Returns the full buckets. `missing` are the buckets of `wanted` that have refused; there may be none. */
  private async fullOf(missing: Wanted[], wanted: Wanted[]): Promise<FullBucket[]> {
    const full = missing.length > 0 ? await this.buckets.findFull(missing) : [];
    this.full.learn(full, rememberable(wanted));
    if (full.length > 0) return full;
    // The window has ended after the refusal.
    return missing.map(({ key, amount }) => ({ key, used: amount, seconds: 1, noted: true }));
  }

  /** Throws the refusal. Notes a bucket once, however often it is found full. */
  private async refuse(wanted: Wanted[], full: FullBucket[], caller: Caller): Promise<never> {
    for (const { limit, key } of wanted) if (full.some((bucket) => bucket.key === key)) this.met.add(limit.name);
    const unnoted = full.filter(({ noted }) => !noted).map(({ key }) => key);
    const first = unnoted.length > 0 ? await this.buckets.note(unnoted) : [];
    for (const use of wanted.filter(({ key }) => first.includes(key)))
      for (const met of this.listeners) await met(use, caller);
    throw worst(wanted, full);
  }
}

/** Returns the key of the queue for counts of one sender. They wait for each other, and leave connections to others. */
function queueKey(wanted: Wanted[], { address }: Caller): string {
  const byAddress = wanted.some(({ limit }) => limit.per === 'address');
  return `${wanted[0]?.limit.name}:${byAddress ? senderOf(address) : wanted[0]?.subject}`;
}

/**
 * Returns the buckets that may be remembered as full for a moment. Leaves out buckets of phones: once the owner has set
 * a new password, every instance must let the owner in at once.
 */
function rememberable(wanted: Wanted[]): Wanted[] {
  return wanted.filter(({ limit }) => limit.per !== 'phone');
}

function without(wanted: Wanted[], others: { key: string }[]): Wanted[] {
  return wanted.filter(({ key }) => !others.some((other) => other.key === key));
}

/** Returns the refusal: with the reason of the first limit that is met, and the longest wait for this reason. */
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
