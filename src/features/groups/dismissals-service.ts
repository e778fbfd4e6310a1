import type { Caller } from '../../base/caller';
import type { Transaction } from '../../database/transaction';
import type { Background } from '../../load/background';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { DismissalsRepository } from './dismissals-repository';
import type { MembershipsRepository } from './memberships-repository';
import { asOneOf } from './refusals';
import { CREATOR } from './roles';

/** Repositories that ending a group writes to. */
export interface EndingRepositories {
  memberships: MembershipsRepository;
  dismissals: DismissalsRepository;
  securityEvents: SecurityEventsRepository;
}

/** Dismisses a group, whose lock it needs. Returns true when no membership is left to end. */
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

/** Ends groups. One row removes a group for all clients. Members' rows follow, after the answer in a large group. */
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

  /** Ends memberships that a killed process or another service left. */
  async sweep(): Promise<void> {
    for (const groupId of await this.dismissals.unfinished()) await this.dismissals.endAll(groupId);
  }
}
