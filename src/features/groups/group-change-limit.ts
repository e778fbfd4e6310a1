import type { Caller } from '../../caller';
import type { Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';

/** How much a user may change in groups, whatever comes of it. Quitting and dismissing are always open. */
export class GroupChangeLimit {
  constructor(
    private readonly limiter: Limiter,
    private readonly limits: Pick<Limits, 'groupChangesPerHour'>,
  ) {}

  async take(userId: string, caller: Caller, count = 1): Promise<void> {
    await this.limiter.take(caller, { limit: this.limits.groupChangesPerHour, subject: userId, count });
  }
}
