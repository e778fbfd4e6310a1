import type { Logger } from 'pino';
import type { Caller } from '../../caller';
import { withTimeout } from '../../load/timeout';
import { retrying } from '../../database/transaction';
import type { AppError } from '../../errors';
import type { Queues } from '../../load/queues';
import { networksOf, senderOf } from '../../networks';
import type { Limit, Limits } from './limits';
import type { Bucket, FullBucket, HeldPlace, LimitsRepository, TakenBucket } from './limits-repository';
import { OwnCounts } from './own-counts';

/** One request, as it counts against one limit. */
export interface Use {
  limit: Limit;
  subject: string;
  /** Counts as so many, 1 unless said. As long as one is left, all are taken. `hold` takes one. */
  count?: number;
}

/** A check by this caller: check_phone_available, get_sms_img_code, and others that reveal or cost as much. */
export function checksBy({ address }: Caller, limits: Pick<Limits, 'checksPerMinute' | 'checksPerDay'>): Use[] {
  return [
    { limit: limits.checksPerMinute, subject: address },
    { limit: limits.checksPerDay, subject: address },
  ];
}

/** A call of verify_code, whatever comes of it. */
export function verifiesBy({ address }: Caller, limits: Pick<Limits, 'verifiesPerMinute' | 'verifiesPerDay'>): Use[] {
  return [
    { limit: limits.verifiesPerMinute, subject: address },
    { limit: limits.verifiesPerDay, subject: address },
  ];
}

/** The buckets that these uses count in. */
export function bucketsOf(uses: Use[]): Bucket[] {
  return limited(uses).map(bucket);
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
export type LimitMet = (use: Use, caller: Caller) => Promise<void>;

/** A refused use: the error to throw, and a function that records it in the audit trail. */
export interface Refused {
  refusal: AppError;
  /** No place that is held now can be given back and change it. */
  lasting: boolean;
  note: () => Promise<void>;
}

interface Count {
  taken: TakenBucket[];
  full: FullBucket[];
}

/** Where reading depends on it, counting waits no longer than this for the database. */
const COUNT_MS = 1_000;
/** After that, this instance counts alone for so long. */
const ALONE_MS = 5_000;

const nothing = () => Promise.resolve();
const NOTHING: Held & Taken = { giveBack: nothing, giveBackButAddress: nothing, settle: nothing };

/** Counts a use against every given limit, or against none of them. */
export class Limiter {
  private readonly own = new OwnCounts();
  private aloneUntil = 0;

  constructor(
    private readonly buckets: LimitsRepository,
    private readonly limitMet: LimitMet,
    private readonly queues: Pick<Queues, 'readCounts' | 'counts'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Throws the refusal when a limit is met. */
  async take(caller: Caller, ...uses: Use[]): Promise<Taken> {
    const wanted = limited(uses);
    const [first] = wanted;
    if (!first) return NOTHING;
    const mustCount = wanted.some(({ limit }) => limit.whenUncounted === 'refuse');
    const isByAddress = wanted.some(({ limit }) => limit.per === 'address');
    const line = `${first.limit.name}:${isByAddress ? senderOf(caller.address) : first.subject}`;
    const full = mustCount
      ? await this.queues.counts.run(line, () => this.countSurely(wanted))
      : await this.queues.readCounts.run(line, () => this.countSomehow(wanted));
    if (full.length > 0) return this.refuse(this.refused(wanted, full, caller));
    const giveBack = async (returned: Use[]) => {
      await retrying(() => this.buckets.giveBack(returned.map(bucket)));
      for (const use of returned) this.own.forget(keyOf(use));
    };
    return {
      giveBack: () => giveBack(wanted),
      giveBackButAddress: () => giveBack(wanted.filter(({ limit }) => limit.per !== 'address')),
    };
  }

  /**
   * Like `take`, for uses that may turn out not to count. Until they are settled they count, for 30 seconds at most.
   */
  async hold(caller: Caller, ...uses: Use[]): Promise<Held> {
    const answer = await this.tryToHold(caller, ...uses);
    return 'refusal' in answer ? this.refuse(answer) : answer;
  }

  /** A bucket that uses have filled, and that was asked for a moment ago, is not asked for again. */
  async tryToHold(caller: Caller, ...uses: Use[]): Promise<Held | Refused> {
    const wanted = limited(uses);
    if (wanted.length === 0) return NOTHING;
    const known = this.knownFullOrToAsk(wanted);
    if (known.length > 0) return this.refused(wanted, known, caller);
    const places = await retrying(() => this.buckets.hold(wanted.map(bucket)));
    if (places.length === wanted.length) {
      this.remember(wanted, []);
      return this.held(places);
    }
    if (places.length > 0) await retrying(() => this.buckets.free(places));
    const full = await this.fullOf(missing(wanted, places));
    this.remember(wanted, full);
    return this.refused(wanted, full, caller);
  }

  private held(places: HeldPlace[]): Held {
    return {
      giveBack: () => retrying(() => this.buckets.free(places)),
      settle: (counted) => {
        const keys = counted && limited(counted).map(keyOf);
        const counts = ({ key }: HeldPlace) => keys === undefined || keys.includes(key);
        const others = places.filter((place) => !counts(place));
        return retrying(() => this.buckets.settle(places.filter(counts), others));
      },
    };
  }

  /** The error that `take` would throw now, or undefined. Takes nothing. */
  async refusalOf(...uses: Use[]): Promise<AppError | undefined> {
    const wanted = limited(uses);
    if (wanted.length === 0) return undefined;
    const full = await this.fullNow(wanted);
    return full.length === 0 ? undefined : worst(wanted, full);
  }

  /** Throws the error that `take` would throw now. Takes nothing. */
  async check(caller: Caller, ...uses: Use[]): Promise<void> {
    const wanted = limited(uses);
    if (wanted.length === 0) return;
    const full = await this.fullNow(wanted);
    if (full.length > 0) await this.refuse(this.refused(wanted, full, caller));
  }

  /** The same, where that is known from a moment ago: the database is not asked. */
  async checkKnown(caller: Caller, ...uses: Use[]): Promise<void> {
    const wanted = limited(uses);
    const known = this.own.knownFull(rememberable(wanted));
    if (known.length > 0) await this.refuse(this.refused(wanted, known, caller));
  }

  async clear({ limit, subject }: Use): Promise<void> {
    const key = keyOf({ limit, subject });
    await retrying(() => this.buckets.clear(key));
    this.own.forget(key);
  }

  /** Clears a limit for a subject and for every pair that begins with it. */
  async clearAll({ limit, subject }: Use): Promise<void> {
    const prefix = keyOf({ limit, subject });
    await retrying(() => this.buckets.clearAll(prefix));
    this.own.forgetAll(prefix);
  }

  private knownFullOrToAsk(wanted: Use[]): FullBucket[] {
    return this.own.knownFullOrToAsk(rememberable(wanted));
  }

  /** What the database has just said. A bucket that is full by places alone is not remembered: one may be free soon. */
  private remember(wanted: Use[], full: FullBucket[]): void {
    const buckets = rememberable(wanted);
    for (const { key } of buckets) this.own.forget(key);
    this.own.learnFull(
      full.filter(({ spent }) => spent),
      buckets,
    );
  }

  private async fullNow(wanted: Use[]): Promise<FullBucket[]> {
    const known = this.knownFullOrToAsk(wanted);
    if (known.length > 0) return known;
    const full = await this.buckets.full(wanted.map(bucket));
    this.remember(wanted, full);
    return full;
  }

  /** For what must not go on without the database's counts. */
  private async countSurely(wanted: Use[]): Promise<FullBucket[]> {
    const known = this.knownFullOrToAsk(wanted);
    if (known.length > 0) return known;
    const { full } = await this.countTogether(wanted);
    this.remember(wanted, full);
    return full;
  }

  /**
   * For reading, which goes on without the database's counts. A bucket that was full a moment ago is not asked for
   * again.
   */
  private async countSomehow(wanted: Use[]): Promise<FullBucket[]> {
    const known = this.own.knownFullOrToAsk(wanted.map(bucket));
    if (known.length > 0) return known;
    if (performance.now() < this.aloneUntil) return this.own.take(wanted.map(bucket));
    try {
      const count = await withTimeout(this.countTogether(wanted), COUNT_MS);
      this.own.learn(count.taken);
      this.own.learnFull(count.full, wanted.map(bucket));
      return count.full.length > 0 ? count.full : await this.overdrawn(wanted);
    } catch (error) {
      this.aloneUntil = performance.now() + ALONE_MS;
      this.logger.warn(
        { err: error },
        'limits cannot be counted together: this instance counts reading alone for a while',
      );
      return this.own.take(wanted.map(bucket));
    }
  }

  /** With what this instance has counted alone before. Nothing is taken then. */
  private async overdrawn(wanted: Use[]): Promise<FullBucket[]> {
    const full = this.own.overdrawn(wanted.map(bucket));
    if (full.length > 0) await retrying(() => this.buckets.giveBack(wanted.map(bucket)));
    return full;
  }

  /** Nothing is taken when something is full. */
  private async countTogether(wanted: Use[]): Promise<Count> {
    const taken = await retrying(() => this.buckets.take(wanted.map(bucket)));
    if (taken.length === wanted.length) return { taken, full: [] };
    const returned = wanted.map(bucket).filter(({ key }) => taken.some((one) => one.key === key));
    if (returned.length > 0) await retrying(() => this.buckets.giveBack(returned));
    return { taken: [], full: await this.fullOf(missing(wanted, taken)) };
  }

  private async fullOf(refused: Bucket[]): Promise<FullBucket[]> {
    const full = await this.buckets.full(refused);
    // The window may have ended since the refusal.
    return full.length > 0
      ? full
      : refused.map(({ key, amount }) => ({ key, used: amount, seconds: 1, noted: true, spent: false }));
  }

  private refused(wanted: Use[], full: FullBucket[], caller: Caller): Refused {
    const lasting = full.some(({ spent }) => spent);
    return { refusal: worst(wanted, full), lasting, note: () => this.note(wanted, full, caller) };
  }

  private async refuse({ refusal, note }: Refused): Promise<never> {
    await note();
    throw refusal;
  }

  /** A bucket that is found full again and again is written to once. */
  private async note(wanted: Use[], full: FullBucket[], caller: Caller): Promise<void> {
    const unnoted = full.filter(({ noted }) => !noted).map(({ key }) => key);
    if (unnoted.length === 0) return;
    const first = await retrying(() => this.buckets.note(unnoted));
    for (const use of wanted) if (first.includes(keyOf(use))) await this.limitMet(use, caller);
  }
}

/** Without limits that are lifted. A limit by address is one of each network too that the address is in. */
function limited(uses: Use[]): Use[] {
  return uses
    .filter(({ limit }) => limit.amount > 0)
    .flatMap((use) => (use.limit.per === 'address' ? wide(use) : [use]));
}

function wide({ limit, subject, count = 1 }: Use): Use[] {
  return networksOf(subject).map(({ network, times }) => ({
    count,
    limit: { ...limit, amount: limit.amount * times },
    subject: network,
  }));
}

/**
 * Buckets that may be held to be full for a moment. Of a phone none: once its owner has set a new password, every
 * instance lets them in at once.
 */
function rememberable(uses: Use[]): Bucket[] {
  return uses.filter(({ limit }) => limit.per !== 'phone').map(bucket);
}

function missing(wanted: Use[], taken: { key: string }[]): Bucket[] {
  return wanted.map(bucket).filter(({ key }) => !taken.some((one) => one.key === key));
}

/** Where several limits are met, the reason is that of the first, and the wait the longest that has this reason. */
function worst(uses: Use[], full: FullBucket[]): AppError {
  const [first, ...others] = uses.flatMap((use) => {
    const met = full.find(({ key }) => key === keyOf(use));
    return met ? [use.limit.refusal(Math.max(1, met.seconds), met.used / use.limit.amount)] : [];
  });
  if (first === undefined) throw new Error('no limit was met');
  const longer = (one: AppError, other: AppError) =>
    other.reason === first.reason && waitOf(other) > waitOf(one) ? other : one;
  return others.reduce(longer, first);
}

function waitOf({ retryAfterSeconds = 0 }: AppError): number {
  return retryAfterSeconds;
}

function bucket(use: Use): Bucket {
  return { key: keyOf(use), amount: use.limit.amount, seconds: use.limit.seconds, uses: use.count ?? 1 };
}

function keyOf({ limit, subject }: Use): string {
  return `${limit.name}:${subject}`;
}
