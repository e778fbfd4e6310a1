import type { Caller } from '../../base/caller';
import { BadRequest, Forbidden } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import { dismissed, type EndingRepositories } from './dismissals-service';
import type { GroupSettings } from './groups-service';
import type { MembershipsRepository } from './memberships-repository';
import { checkNewcomers } from './newcomers';
import { asMember, asOneOf, inTooMany, lacking, noSuchGroup, unfit } from './refusals';
import { CREATOR, MANAGER, MEMBER } from './roles';

/** Who comes into a group and who goes, and what the creator decides about the others. */
export class MembershipsService {
  constructor(
    private readonly memberships: MembershipsRepository,
    private readonly transaction: Transaction<EndingRepositories>,
    private readonly settings: GroupSettings,
  ) {}

  /** By any member. Who is there already stays as they are, and who has quit is not pulled back in. */
  async add(groupId: string, userId: string, memberIds: string[]): Promise<void> {
    const { addFriendsOnly, maxMembers } = this.settings;
    const wanted = [...new Set(memberIds)];
    await this.transaction(async ({ memberships }) => {
      // First without a lock: nobody waits for who asks in vain, or for who names others than friends.
      asMember((await memberships.roles(groupId, [userId])).get(userId));
      const fit = await memberships.fitAmong(userId, wanted, addFriendsOnly);
      // Users before the group, as everywhere.
      const open = await memberships.lockOpen(fit);
      const count = await memberships.lock(groupId);
      const roles = await memberships.roles(groupId, [userId, ...wanted]);
      asMember(roles.get(userId));
      const newcomers = wanted.filter((id) => !roles.has(id));
      await checkNewcomers(memberships, { ...this.settings, userId, memberIds, open }, newcomers, groupId);
      if (newcomers.length > 0 && count + newcomers.length > maxMembers) throw this.full();
      await memberships.add(groupId, newcomers);
    });
  }

  /** Whoever has the id is invited by it, but for who was kicked. A member who joins changes nothing. */
  async join(groupId: string, userId: string): Promise<void> {
    const { memberships } = this;
    const { joinable, maxMembers, maxJoined } = this.settings;
    const most = { members: maxMembers, joined: maxJoined };
    if (joinable && (await memberships.join(groupId, userId, most))) return;
    const standing = await memberships.standing(groupId, userId);
    if (standing?.isMember) return;
    // The same for each id, so that it tells nothing.
    if (!joinable)
      throw new Forbidden('joining_closed', 'groupId: a member has to add you, this service does not let users join');
    if (!standing || standing.wasKicked) throw noSuchGroup();
    if ((await memberships.fullAmong([userId], maxJoined)).length > 0) throw inTooMany(maxJoined);
    throw this.full();
  }

  /** The last one out dismisses the group. */
  async quit(groupId: string, userId: string, caller: Caller): Promise<void> {
    await this.transaction(async (repos) => {
      const { memberships } = repos;
      const count = await memberships.lockAs(groupId, [userId], (roles) => asMember(roles.get(userId)));
      if (count > 1) await memberships.leave(groupId, userId);
      else await dismissed(repos, groupId, userId, caller);
    });
  }

  /** The creator may kick anyone else, a manager plain members. A user who has quit already cannot come back then. */
  async kick(groupId: string, userId: string, memberIds: string[]): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await memberships.lockAs(groupId, [userId, ...memberIds], (roles) => {
        const role = asOneOf(roles.get(userId), CREATOR, MANAGER);
        if (memberIds.includes(userId))
          throw new BadRequest('not_yourself', 'memberIds: you cannot kick yourself, use quit');
        const areBelow = memberIds.every((id) => (roles.get(id) ?? MEMBER) === MEMBER);
        if (role !== CREATOR && !areBelow) throw lacking(role);
      });
      await memberships.kick(groupId, memberIds);
    });
  }

  /** The creator is a plain member then. The group goes on to count against the user who made it. */
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
        const whys = new Map(others.map((id) => [id, 'is no other member of this group']));
        if (others.length > 0) throw unfit('not_a_member', memberIds, whys);
      });
      await memberships.setRole(groupId, memberIds, MANAGER);
    });
  }

  /** Who is no manager stays so. */
  async removeManagers(groupId: string, creatorId: string, memberIds: string[]): Promise<void> {
    await this.transaction(async ({ memberships }) => {
      await memberships.lockAs(groupId, [creatorId], (roles) => asOneOf(roles.get(creatorId), CREATOR));
      await memberships.setRole(groupId, memberIds, MEMBER);
    });
  }

  private full(): BadRequest {
    return new BadRequest('group_full', `groupId: the group is full, it takes ${this.settings.maxMembers} members`);
  }
}
