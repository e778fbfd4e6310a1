import { BadRequest, NotFound, NotSignedIn, Wrong } from '../../base/errors';
import type { Reader } from '../../database/owner-reads';
import { PAGE, pagesOf } from '../../database/pages';
import type { Reading } from '../../database/replica';
import type { Transaction } from '../../database/transaction';
import { checkPortraitHost, type PortraitRules } from '../profile/portrait-host';
import { newUserId as newGroupId } from '../users/user-id';
import type { GroupChanges, GroupsRepository } from './groups-repository';
import type { GroupDetail, GroupSummary, NewGroup } from './groups-schemas';
import type { Member, MembershipsRepository } from './memberships-repository';
import { checkNewcomers } from './newcomers';
import { asOneOf, inTooMany, noSuchGroup } from './refusals';
import { CREATOR, MANAGER } from './roles';

export interface GroupSettings {
  addFriendsOnly: boolean;
  joinable: boolean;
  maxMembers: number;
  /** Maximum groups that a user made; 0: no limit. */
  maxPerUser: number;
  /** Maximum groups that a user may be in; 0: no limit. */
  maxJoined: number;
}

export interface GroupsDeps {
  groups: GroupsRepository;
  memberships: MembershipsRepository;
  transaction: Transaction<{ groups: GroupsRepository; memberships: MembershipsRepository }>;
  reading: Pick<Reading, 'readAt'>;
}

/** Groups, as their members see and name them. */
export class GroupsService {
  constructor(
    private readonly deps: GroupsDeps,
    readonly settings: GroupSettings,
    private readonly portraits: PortraitRules,
  ) {}

  async ofMember(userId: string): Promise<GroupSummary[]> {
    return this.deps.groups.ofMember(userId);
  }

  async detail(groupId: string, { reads }: Pick<Reader, 'reads'>): Promise<GroupDetail> {
    const found = await this.deps.groups.detail(groupId, reads);
    if (!found) throw new NotFound('no_such_group', 'id: is not one of your groups');
    return found;
  }

  /** Returns the members in pages, in the order of their ids. */
  async members(groupId: string, userId: string): Promise<AsyncGenerator<Member[]>> {
    const { memberships, reading } = this.deps;
    const roles = await memberships.roles(groupId, [userId]);
    if (!roles.has(userId)) throw new NotFound('no_such_group', 'id: is not one of your groups');
    const at = reading.readAt();
    const read = (after: string) => at(({ db }) => memberships.page(db, groupId, after));
    return pagesOf(PAGE, read, ({ id }) => id);
  }

  async create(userId: string, { name, memberIds, portraitUri }: NewGroup): Promise<string> {
    const { addFriendsOnly, maxMembers, maxPerUser, maxJoined } = this.settings;
    checkPortraitHost(this.portraits, portraitUri);
    const others = [...new Set(memberIds)].filter((id) => id !== userId);
    if (others.length >= maxMembers)
      throw new BadRequest('group_full', `memberIds: a group has at most ${maxMembers} members`);
    // As hard to guess as a user's id: users who know it may be allowed to join by it.
    const id = newGroupId();
    await this.deps.transaction(async ({ groups, memberships }) => {
      const fit = await memberships.fitAmong(userId, others, addFriendsOnly);
      // Locks the user too, so that a user makes one group at a time.
      const open = await memberships.lockOpen([userId, ...fit]);
      if (!open.includes(userId)) throw new NotSignedIn();
      if (maxPerUser > 0 && (await groups.countMadeBy(userId)) >= maxPerUser)
        throw new Wrong('too_many_groups', `you have created ${maxPerUser} groups already`);
      if ((await memberships.fullAmong([userId], maxJoined)).length > 0) throw inTooMany(maxJoined);
      await checkNewcomers(memberships, { ...this.settings, userId, memberIds, open }, others);
      await groups.create({ id, name, portraitUri: portraitUri ?? '', creatorId: userId });
      await memberships.add(id, [userId, ...others]);
    });
    return id;
  }

  /** Changes a group. The creator and managers may do so. */
  async change(groupId: string, userId: string, changes: GroupChanges): Promise<void> {
    checkPortraitHost(this.portraits, changes.portraitUri);
    await this.deps.transaction(async ({ groups, memberships }) => {
      await memberships.lockAs(groupId, [userId], (roles) => asOneOf(roles.get(userId), CREATOR, MANAGER));
      await groups.change(groupId, changes);
    });
  }

  /** Sets the user's name in this group. */
  async setDisplayName(groupId: string, userId: string, displayName: string): Promise<void> {
    const isMember = await this.deps.memberships.setDisplayName(groupId, userId, displayName);
    if (!isMember) throw noSuchGroup();
  }
}
