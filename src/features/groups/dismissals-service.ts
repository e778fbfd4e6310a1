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

export interface DismissalsParts {
  dismissals: DismissalsRepository;
  transaction: Transaction<EndingRepositories>;
  background: Background;
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
  constructor(private readonly parts: DismissalsParts) {}

  async dismiss(groupId: string, userId: string, caller: Caller): Promise<void> {
    const { dismissals, transaction, background } = this.parts;
    const isDone = await transaction(async (repos) => {
      await repos.memberships.lockAs(groupId, [userId], (roles) => asOneOf(roles.get(userId), CREATOR));
      return dismissed(repos, groupId, userId, caller);
    });
    if (!isDone) background.run(() => dismissals.endAll(groupId), 'memberships of a dismissed group are ended later');
  }

  /** Of a process that has ended in the middle, and of other services. */
  async sweep(): Promise<void> {
    const { dismissals } = this.parts;
    for (const groupId of await dismissals.unfinished()) await dismissals.endAll(groupId);
  }
}
