import type { AppError } from '../../errors';
import { retrying } from '../../database/retrying';
import { withinPatience } from '../../patience';
import type { AuditTrail } from '../audit/audit-trail';
import type { Caller } from '../audit/caller';
import type { Limit, Limits } from './limits';
import type { Bucket, FullBucket, LimitsRepository } from './limits-repository';
import { OwnCounts } from './own-counts';

export interface Use {
  limit: Limit;
  subject: string;
}

/** check_phone_available, verify_code, get_sms_img_code, and whatever else tells as much, by where it is asked from. */
export function checksBy({ address }: Caller, limits: Pick<Limits, 'checksPerMinute' | 'checksPerDay'>): Use[] {
  return [
    { limit: limits.checksPerMinute, subject: address },
    { limit: limits.checksPerDay, subject: address },
  ];
}

/** Wrong codes for a phone, by where they are typed and in all. */
export function guessesAt(
  phone: string,
  { address }: Caller,
  limits: Pick<Limits, 'wrongCodesPerPhoneAndAddress' | 'wrongCodesPerPhone'>,
): Use[] {
  return [
    { limit: limits.wrongCodesPerPhoneAndAddress, subject: `${phone} ${address}` },
    { limit: limits.wrongCodesPerPhone, subject: phone },
  ];
}

/** What was taken, to be given back when it turns out not to count. */
export interface Taken {
  giveBack(): Promise<void>;
}

/** What was not, with the answer to whoever asked, and the note for the audit trail. */
export interface Refused {
  refusal: AppError;
  note(): Promise<void>;
}

interface Count {
  taken: string[];
  full: FullBucket[];
}

/** Reading waits no longer than this for being counted by all instances together … */
const PATIENCE_MS = 1_000;
/** … and then is counted by each for itself, for so long. */
const ON_OUR_OWN_MS = 5_000;

/** Takes from limits, all of those named or none. */
export class Limiter {
  private readonly own = new OwnCounts();
  private onOurOwnUntil = 0;

  constructor(
    private readonly buckets: LimitsRepository,
    private readonly audit: AuditTrail,
    private readonly warn: (message: string, cause: unknown) => void,
  ) {}

  /** Throws the refusal; the audit trail is told the first time that a bucket is found full. */
  async take(caller: Caller, ...uses: Use[]): Promise<Taken> {
    const answer = await this.tryToTake(caller, ...uses);
    if (!('refusal' in answer)) return answer;
    await answer.note();
    throw answer.refusal;
  }

  async tryToTake(caller: Caller, ...uses: Use[]): Promise<Taken | Refused> {
    const wanted = uses.filter(({ limit }) => limit.amount > 0);
    if (wanted.length === 0) return { giveBack: async () => undefined };
    const { taken, full } = await this.count(wanted);
    if (full.length === 0) return { giveBack: () => this.giveBack(taken) };
    return { refusal: worst(wanted, full), note: () => this.note(wanted, full, caller) };
  }

  /** The refusal that taking would meet, without taking. */
  async refusalOf(...uses: Use[]): Promise<AppError | undefined> {
    const wanted = uses.filter(({ limit }) => limit.amount > 0);
    if (wanted.length === 0) return undefined;
    const full = await this.buckets.full(wanted.map(bucket));
    return full.length === 0 ? undefined : worst(wanted, full);
  }

  async clear({ limit, subject }: Use): Promise<void> {
    await retrying(() => this.buckets.clear(keyOf({ limit, subject })));
  }

  /** Clears a limit for a subject and for every pair that begins with it. */
  async clearAll({ limit, subject }: Use): Promise<void> {
    await retrying(() => this.buckets.clearAll(keyOf({ limit, subject })));
  }

  private async count(wanted: Use[]): Promise<Count> {
    if (wanted.some(({ limit }) => limit.uncounted === 'refused')) return this.countTogether(wanted);
    if (Date.now() < this.onOurOwnUntil) return this.countAlone(wanted);
    try {
      return await withinPatience(this.countTogether(wanted), PATIENCE_MS);
    } catch (error) {
      this.onOurOwnUntil = Date.now() + ON_OUR_OWN_MS;
      this.warn('limits cannot be counted together: reading is counted by this instance alone for a while', error);
      return this.countAlone(wanted);
    }
  }

  private countAlone(wanted: Use[]): Count {
    return { taken: [], full: this.own.take(wanted.map(bucket)) };
  }

  private async countTogether(wanted: Use[]): Promise<Count> {
    const taken = await retrying(() => this.buckets.take(wanted.map(bucket)));
    const refused = wanted.filter((use) => !taken.includes(keyOf(use))).map(bucket);
    if (refused.length === 0) return { taken, full: [] };
    await this.giveBack(taken);
    const full = await this.buckets.full(refused);
    // Its window may have ended since it refused.
    return { taken: [], full: full.length > 0 ? full : refused.map(({ key }) => ({ key, seconds: 1, noted: true })) };
  }

  private async giveBack(keys: string[]): Promise<void> {
    if (keys.length > 0) await retrying(() => this.buckets.giveBack(keys));
  }

  /** A bucket that is met again and again is read, and written to once. */
  private async note(wanted: Use[], full: FullBucket[], caller: Caller): Promise<void> {
    const unnoted = full.filter(({ noted }) => !noted).map(({ key }) => key);
    if (unnoted.length === 0) return;
    const first = await retrying(() => this.buckets.note(unnoted));
    for (const use of wanted) if (first.includes(keyOf(use))) await this.audit.note(limitMet(use), caller);
  }
}

function limitMet({ limit, subject }: Use) {
  const [phone = ''] = subject.split(' ');
  return {
    event: 'limit_met' as const,
    detail: limit.name,
    ...(limit.per.startsWith('phone') && { phone: { number: phone } }),
    ...(limit.per === 'user' && { userId: subject }),
  };
}

/** Where several limits are met, the answer is the first one's, and the wait the longest. */
function worst(uses: Use[], full: FullBucket[]): AppError {
  const met = uses.find((use) => full.some(({ key }) => key === keyOf(use)));
  if (met === undefined) throw new Error('no limit was met');
  return met.limit.refusal(Math.max(1, ...full.map(({ seconds }) => seconds)));
}

function bucket(use: Use): Bucket {
  return { key: keyOf(use), amount: use.limit.amount, seconds: use.limit.seconds };
}

function keyOf({ limit, subject }: Use): string {
  return `${limit.name}:${subject}`;
}
