import type { Caller } from '../../base/caller';
import { BadRequest, Forbidden } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import { dismissed, type EndingRepositories } from './dismissals-service';
import type { GroupSettings } from './groups-service';
import type { MembershipsRepository } from './memberships-repository';
import { checkNewcomers } from './newcomers';
import { asMember, asOneOf, inTooMany, roleTooLow, noSuchGroup, unfit } from './refusals';
import { CREATOR, MANAGER, MEMBER } from './roles';

/** Members who join and leave groups, and decisions of the creator about others. */
export class MembershipsService {
  constructor(
    private readonly memberships: MembershipsRepository,
    private readonly transaction: Transaction<EndingRepositories>,
    private readonly settings: GroupSettings,
  ) {}

  /** Adds users; any member may do so. Present members do not change. Users who have quit cannot be added. */
  async add(groupId: string, userId: string, memberIds: string[]): Promise<void> {
    const { addFriendsOnly, maxMembers } = this.settings;
    const wanted = [...new Set(memberIds)];
    await this.transaction(async ({ memberships }) => {
      // First without a lock, so that refused requests, such as for users who are not friends, do not block anybody.
      asMember((await memberships.roles(groupId, [userId])).get(userId));
      const fit = await memberships.fitAmong(userId, wanted, addFriendsOnly);
      // Locks users before the group, as everywhere.
      const open = await memberships.lockOpen(fit);
      const count = await memberships.lock(groupId);
      const roles = await memberships.roles(groupId, [userId, ...wanted]);
      asMember(roles.get(userId));
      const newcomers = wanted.filter((id) => !roles.has(id));
      await checkNewcomers(memberships, { ...this.settings, userId, memberIds, open }, newcomers, groupId);
      if (newcomers.length > 0 && count + newcomers.length > maxMembers) throw this.groupFull();
      await memberships.add(groupId, newcomers);
    });
  }

  /** Adds the user, who needs nothing but the group's id. Refuses a kicked user. Does nothing for a member. */
  async join(groupId: string, userId: string): Promise<void> {
    const { memberships } = this;
    const { joinable, maxMembers, maxJoined } = this.settings;
    const most = { members: maxMembers, joined: maxJoined };
    if (joinable && (await memberships.join(groupId, userId, most))) return;
    const standing = await memberships.standing(groupId, userId);
    if (standing?.isMember) return;
    // Answers alike for each id, so that the answer does not reveal whether a group exists.
    if (!joinable)
      throw new Forbidden('joining_closed', 'groupId: a member has to add you, this service does not let users join');
    if (!standing || standing.wasKicked) throw noSuchGroup();
    if ((await memberships.fullAmong([userId], maxJoined)).length > 0) throw inTooMany(maxJoined);
    throw this.groupFull();
  }

  /** Ends the user's membership. The last member who quits dismisses the group. */
  async quit(groupId: string, userId: string, caller: Caller): Promise<void> {
    await this.transaction(async (repos) => {
      const { memberships } = repos;
      const count = await memberships.lockAs(groupId, [userId], (roles) => asMember(roles.get(userId)));
      if (count > 1) await memberships.leave(groupId, userId);
      else await dismissed(repos, groupId, userId, caller);
    });
  }

  /** The creator may kick anyone; a manager may kick plain members. Kicking a user who already left bans them. */
  async kick(groupId: string, userId: string, memberIds: string[]): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await memberships.lockAs(groupId, [userId, ...memberIds], (roles) => {
        const role = asOneOf(roles.get(userId), CREATOR, MANAGER);
        if (memberIds.includes(userId))
          throw new BadRequest('not_yourself', 'memberIds: you cannot kick yourself, use quit');
        const areBelow = memberIds.every((id) => (roles.get(id) ?? MEMBER) === MEMBER);
        if (role !== CREATOR && !areBelow) throw roleTooLow(role);
      });
      await memberships.kick(groupId, memberIds);
    });
  }

  /** Makes another member the creator. The old one is then a plain member, and the group still counts for its maker. */
  async transfer(groupId: string, creatorId: string, userId: string): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await memberships.lockAs(groupId, [creatorId, userId], (roles) => {
        asOneOf(roles.get(creatorId), CREATOR);
        if (!roles.has(userId)) throw new BadRequest('not_a_member', 'userId: is not another member of this group');
      });
      await memberships.transfer(groupId, userId);
    });
  }

  async setManagers(groupId: string, creatorId: string, memberIds: string[]): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await memberships.lockAs(groupId, [creatorId, ...memberIds], (roles) => {
        asOneOf(roles.get(creatorId), CREATOR);
        const others = memberIds.filter((id) => (roles.get(id) ?? CREATOR) === CREATOR);
        const whys = new Map(others.map((id) => [id, 'is not another member of this group']));
        if (others.length > 0) throw unfit('not_a_member', memberIds, whys);
      });
      await memberships.setRole(groupId, memberIds, MANAGER);
    });
  }

  /** Makes managers plain members. Does nothing for others. */
  async removeManagers(groupId: string, creatorId: string, memberIds: string[]): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await memberships.lockAs(groupId, [creatorId], (roles) => asOneOf(roles.get(creatorId), CREATOR));
      await memberships.setRole(groupId, memberIds, MEMBER);
    });
  }

  private groupFull(): BadRequest {
    return new BadRequest('group_full', `groupId: the group is full, it takes ${this.settings.maxMembers} members`);
  }
}
