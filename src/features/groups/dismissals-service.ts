import type { Caller } from '../../base/caller';
import type { Transaction } from '../../database/transaction';
import type { Background } from '../../load/background';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { DismissalsRepository } from './dismissals-repository';
import type { MembershipsRepository } from './memberships-repository';
import { asOneOf } from './refusals';
import { CREATOR } from './roles';

/** What ends a group. */
export interface EndingRepositories {
  memberships: MembershipsRepository;
  dismissals: DismissalsRepository;
  securityEvents: SecurityEventsRepository;
}

/** With the group locked. True when no membership is left to be ended. */
export async function dismissed(
  { dismissals, securityEvents }: EndingRepositories,
  groupId: string,
  userId: string,
  caller: Caller,
): Promise<boolean> {
  await dismissals.dismiss(groupId);
  await securityEvents.add({ event: 'group_dismissed', userId, detail: groupId }, caller);
  return dismissals.endFirst(groupId);
}

/**
 * Ends groups. For every client a group is gone with one row of its own; the rows of its members follow, those of a small
 * group at once, and those of a large one behind the answer.
 */
export class DismissalsService {
  constructor(
    private readonly dismissals: DismissalsRepository,
    private readonly transaction: Transaction<EndingRepositories>,
    private readonly background: Background,
  ) {}

  async dismiss(groupId: string, userId: string, caller: Caller): Promise<void> {
    const isDone = await this.transaction(async (repos) => {
      await repos.memberships.lockAs(groupId, [userId], (roles) => asOneOf(roles.get(userId), CREATOR));
      return dismissed(repos, groupId, userId, caller);
    });
    const end = () => this.dismissals.endAll(groupId);
    if (!isDone) this.background.run(end, 'memberships of a dismissed group are ended later');
  }

  /** Of a process that has ended in the middle, and of other services. */
  async sweep(): Promise<void> {
    for (const groupId of await this.dismissals.unfinished()) await this.dismissals.endAll(groupId);
  }
}
