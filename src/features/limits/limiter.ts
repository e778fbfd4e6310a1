import type { AppError } from '../../errors';
import { retrying } from '../../database';
import type { Limit } from './limits';
import type { Bucket, LimitsRepository } from './limits-repository';

export interface Use {
  limit: Limit;
  subject: string;
}

/** What was taken, to be given back when it turns out not to count. */
export interface Taken {
  giveBack(): Promise<void>;
}

/** Takes from limits, all of those named or none. */
export class Limiter {
  constructor(private readonly buckets: LimitsRepository) {}

  async take(...uses: Use[]): Promise<Taken> {
    const wanted = uses.filter(({ limit }) => limit.amount > 0);
    if (wanted.length === 0) return { giveBack: async () => undefined };
    const taken = await retrying(() => this.buckets.take(wanted.map(bucket)));
    if (taken.length < wanted.length) {
      if (taken.length > 0) await this.giveBack(taken);
      throw await this.refusal(wanted.filter((use) => !taken.includes(keyOf(use))));
    }
    return { giveBack: () => this.giveBack(taken) };
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

  private async giveBack(keys: string[]): Promise<void> {
    await retrying(() => this.buckets.giveBack(keys));
  }

  private async refusal(refused: Use[]): Promise<AppError> {
    return worst(refused, await this.buckets.full(refused.map(bucket)));
  }
}

/** Where several limits are met, the answer is the first one's, and the wait the longest. */
function worst(uses: Use[], full: { key: string; seconds: number }[]): AppError {
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
