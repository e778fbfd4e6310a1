import type { Caller } from '../../caller';
import type { Transaction } from '../../database/transaction';
import { BadRequest } from '../../errors';
import type { GroupChangeLimit } from './group-change-limit';
import type { GroupsRepository } from './groups-repository';
import type { MembershipsRepository } from './memberships-repository';
import { asMember, asOneOf, unfit } from './refusals';
import { CREATOR, MANAGER, MEMBER } from './roles';

/** What the creator of a group decides about the others. */
export class RolesService {
  constructor(
    private readonly transaction: Transaction<{ groups: GroupsRepository; memberships: MembershipsRepository }>,
    private readonly changes: GroupChangeLimit,
    /** Of which somebody may be the creator. 0: any number. */
    private readonly mostGroups: number,
  ) {}

  /** The creator is a plain member then. */
  async transfer(groupId: string, creatorId: string, userId: string, caller: Caller): Promise<void> {
    await this.changes.take(creatorId, caller);
    await this.transaction(async ({ groups, memberships }) => {
      const rolesOfBoth = async () => {
        const roles = await memberships.roles(groupId, [creatorId, userId]);
        asMember(roles.get(creatorId));
        if (!roles.has(userId)) throw new BadRequest('not_a_member', 'userId: no member of this group');
        return roles;
      };
      // First without a lock: nobody waits for a stranger. That of the user comes before the group's, as where one is made.
      await rolesOfBoth();
      await groups.lockCreations(userId);
      await memberships.lock(groupId);
      asOneOf((await rolesOfBoth()).get(creatorId), CREATOR);
      if (userId !== creatorId && this.mostGroups > 0 && (await groups.countCreatedBy(userId)) >= this.mostGroups)
        throw new BadRequest('new_creator_full', `userId: is the creator of ${this.mostGroups} groups already`);
      await memberships.transfer(groupId, userId);
    });
  }

  async setManagers(groupId: string, creatorId: string, memberIds: string[], caller: Caller): Promise<void> {
    await this.changes.take(creatorId, caller, memberIds.length);
    await this.transaction(async ({ memberships }) => {
      await memberships.lock(groupId);
      const roles = await memberships.roles(groupId, [creatorId, ...memberIds]);
      asOneOf(roles.get(creatorId), CREATOR);
      const others = memberIds.filter((id) => (roles.get(id) ?? CREATOR) === CREATOR);
      if (others.length > 0) throw unfit('not_a_member', memberIds, others, 'is no other member of this group');
      await memberships.setRole(groupId, memberIds, MANAGER);
    });
  }

  /** Who is no manager stays so. */
  async removeManagers(groupId: string, creatorId: string, memberIds: string[], caller: Caller): Promise<void> {
    await this.changes.take(creatorId, caller, memberIds.length);
    await this.transaction(async ({ memberships }) => {
      await memberships.lock(groupId);
      const roles = await memberships.roles(groupId, [creatorId]);
      asOneOf(roles.get(creatorId), CREATOR);
      await memberships.setRole(groupId, memberIds, MEMBER);
    });
  }
}
