import type { AppError } from '../../errors';
import { retrying } from '../../database';
import type { AuditTrail } from '../audit/audit-trail';
import type { Caller } from '../audit/caller';
import type { Limit } from './limits';
import type { Bucket, FullBucket, LimitsRepository } from './limits-repository';

export interface Use {
  limit: Limit;
  subject: string;
}

/** What was taken, to be given back when it turns out not to count. */
export interface Taken {
  giveBack(): Promise<void>;
}

interface Count {
  taken: string[];
  refused: Use[];
  full: FullBucket[];
}

const UNCOUNTED: Count = { taken: [], refused: [], full: [] };

/** What may go on uncounted waits no longer than this for being counted. */
const PATIENCE_MS = 1_000;

/** Takes from limits, all of those named or none. The audit trail is told the first time that a bucket is found full. */
export class Limiter {
  constructor(
    private readonly buckets: LimitsRepository,
    private readonly audit: AuditTrail,
    private readonly warn: (message: string, cause: unknown) => void,
  ) {}

  async take(caller: Caller, ...uses: Use[]): Promise<Taken> {
    const wanted = uses.filter(({ limit }) => limit.amount > 0);
    if (wanted.length === 0) return { giveBack: async () => undefined };
    const { taken, refused, full } = await this.count(wanted);
    if (refused.length === 0) return { giveBack: () => this.giveBack(taken) };
    for (const use of refused)
      if (full.some((met) => met.key === keyOf(use) && met.first)) await this.note(use, caller);
    throw worst(refused, full);
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
    if (wanted.some(({ limit }) => limit.uncounted === 'refused')) return this.takeOrFind(wanted);
    return withinPatience(this.takeOrFind(wanted)).catch((error: unknown) => {
      this.warn('a limit cannot be counted: the request goes on uncounted', error);
      return UNCOUNTED;
    });
  }

  private async takeOrFind(wanted: Use[]): Promise<Count> {
    const taken = await retrying(() => this.buckets.take(wanted.map(bucket)));
    const refused = wanted.filter((use) => !taken.includes(keyOf(use)));
    if (refused.length === 0) return { taken, refused, full: [] };
    await this.giveBack(taken);
    return { taken: [], refused, full: await retrying(() => this.buckets.full(refused.map(bucket))) };
  }

  private async giveBack(keys: string[]): Promise<void> {
    if (keys.length > 0) await retrying(() => this.buckets.giveBack(keys));
  }

  private async note({ limit, subject }: Use, caller: Caller): Promise<void> {
    const [first = ''] = subject.split(' ');
    await this.audit.note(
      {
        event: 'limit_met',
        detail: limit.name,
        ...(limit.per.startsWith('phone') && { phone: { number: first } }),
        ...(limit.per === 'user' && { userId: subject }),
      },
      caller,
    );
  }
}

function withinPatience<T>(work: Promise<T>): Promise<T> {
  const patience = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('counting took too long')), PATIENCE_MS);
    work.finally(() => clearTimeout(timer)).catch(() => undefined);
  });
  return Promise.race([work, patience]);
}

/** Where several limits are met, the answer is the first one's, and the wait the longest. */
function worst(uses: Use[], full: FullBucket[]): AppError {
  const met = uses.find((use) => full.some(({ key }) => key === keyOf(use))) ?? uses[0];
  if (met === undefined) throw new Error('no limit was met');
  return met.limit.refusal(Math.max(1, ...full.map(({ seconds }) => seconds)));
}

function bucket(use: Use): Bucket {
  return { key: keyOf(use), amount: use.limit.amount, seconds: use.limit.seconds };
}

function keyOf({ limit, subject }: Use): string {
  return `${limit.name}:${subject}`;
}
