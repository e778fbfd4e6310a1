import { BadRequest } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import { lockAs } from './lock-as';
import type { MembershipsRepository } from './memberships-repository';
import { asOneOf, unfit } from './refusals';
import { CREATOR, MANAGER, MEMBER } from './roles';

/** What the creator of a group decides about the others. */
export class RolesService {
  constructor(private readonly transaction: Transaction<{ memberships: MembershipsRepository }>) {}

  /** The creator is a plain member then. The group goes on to count against the user who made it. */
  async transfer(groupId: string, creatorId: string, userId: string): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await lockAs(memberships, groupId, [creatorId, userId], (roles) => {
        asOneOf(roles.get(creatorId), CREATOR);
        if (!roles.has(userId)) throw new BadRequest('not_a_member', 'userId: no member of this group');
      });
      await memberships.transfer(groupId, userId);
    });
  }

  async setManagers(groupId: string, creatorId: string, memberIds: string[]): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await lockAs(memberships, groupId, [creatorId, ...memberIds], (roles) => {
        asOneOf(roles.get(creatorId), CREATOR);
        const others = memberIds.filter((id) => (roles.get(id) ?? CREATOR) === CREATOR);
        const whys = new Map(others.map((id) => [id, 'is no other member of this group']));
        if (others.length > 0) throw unfit('not_a_member', memberIds, whys);
      });
      await memberships.setRole(groupId, memberIds, MANAGER);
    });
  }

  /** Who is no manager stays so. */
  async removeManagers(groupId: string, creatorId: string, memberIds: string[]): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await lockAs(memberships, groupId, [creatorId], (roles) => asOneOf(roles.get(creatorId), CREATOR));
      await memberships.setRole(groupId, memberIds, MEMBER);
    });
  }
}
