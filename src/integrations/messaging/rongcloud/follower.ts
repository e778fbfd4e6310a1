import { AGAIN, ALL_OF, type Change, type Follower, type Originals } from '../messaging-provider';
import type { RongCloudApi } from './api';
import type { RongCloudMessagingProvider } from './provider';

/** Most that one call of RongCloud takes. */
const MEMBERS_A_CALL = 100;
const BLACKLISTED_A_CALL = 20;

/** Sender of notices that no user sends. */
const SYSTEM = '__system__';

/** Events after which no token of before is valid. */
const ENDS = ['tokens.ended', 'user.suspended', 'user.closed'];
/** Events after which the profile is another one. */
const PROFILE = ['user.updated', 'user.closed'];

/**
 * Keeps RongCloud's users, blacklists and groups equal to those here, and sends the notices that its clients show. Looks
 * up how each is now, so that repeated and late calls end right.
 */
export class RongCloudFollower implements Follower {
  readonly kinds = [
    ...ENDS,
    'user.updated',
    'blacklist.changed',
    'friendship.changed',
    'group.created',
    'group.changed',
    'group.dismissed',
    'members.changed',
  ];
  readonly copiedKinds = [
    'user.closed',
    'user.updated',
    'blacklist.changed',
    'group.changed',
    'group.dismissed',
    'members.changed',
    ...Object.values(ALL_OF),
  ];

  constructor(
    private readonly api: RongCloudApi,
    private readonly provider: Pick<RongCloudMessagingProvider, 'profileChanged' | 'accountClosed'>,
    private readonly originals: Originals,
  ) {}

  setTime(milliseconds: number): void {
    this.api.setTime(milliseconds);
  }

  async follow(subject: string, changes: Change[]): Promise<void> {
    const of = (kind: string) => changes.filter((change) => change.kind === kind);
    const ends = changes.filter(({ kind, what }) => ENDS.includes(kind) && what !== AGAIN);
    const isAll = of(ALL_OF.user).length > 0;
    if (ends.length > 0) await this.endTokens(subject, ends);
    if (isAll || changes.some(({ kind }) => PROFILE.includes(kind))) await this.refreshUser(subject);
    const others = isAll ? await this.originals.everBlacklisted(subject) : othersIn(of('blacklist.changed'));
    await this.changeBlacklist(subject, others);
    for (const change of of('friendship.changed')) await this.notifyFriend(subject, change);
    const ofGroup = changes.filter(({ kind }) => kind.startsWith('group.') || kind === 'members.changed');
    if (ofGroup.length > 0) await this.followGroup(subject, ofGroup);
  }

  private async endTokens(userId: string, ends: Change[]): Promise<void> {
    const time = Math.max(...ends.map(({ at }) => at.getTime()));
    await this.api.call('/user/token/expire.json', { userId, time: String(time) });
  }

  private async refreshUser(userId: string): Promise<void> {
    const [user] = await this.originals.users([userId]);
    await (user ? this.provider.profileChanged(user) : this.provider.accountClosed(userId));
  }

  private async changeBlacklist(userId: string, others: string[]): Promise<void> {
    for (const some of inParts(others, BLACKLISTED_A_CALL)) {
      const added = await this.originals.blacklisted(userId, some);
      const removed = some.filter((id) => !added.includes(id));
      if (added.length > 0) await this.api.call('/user/blacklist/add.json', { userId, blackUserId: added });
      if (removed.length > 0) await this.api.call('/user/blacklist/remove.json', { userId, blackUserId: removed });
    }
  }

  /** Tells a user of a request, and the one who asked that it was accepted. */
  private async notifyFriend(userId: string, { what, other, at }: Change): Promise<void> {
    const message = what === 'requested' ? await this.originals.request(userId, other) : '';
    const operation = { requested: 'Request', accepted: 'AcceptResponse' }[what];
    const [source] = operation === undefined ? [] : await this.originals.users([other]);
    if (message === undefined || operation === undefined || source === undefined) return;
    const extra = { sourceUserNickname: source.nickname, version: at.getTime() };
    const content = { operation, sourceUserId: other, targetUserId: userId, message, extra };
    await this.api.call('/message/system/publish.json', {
      fromUserId: other,
      toUserId: userId,
      objectName: 'ST:ContactNtf',
      content: JSON.stringify(content),
    });
  }

  private async followGroup(groupId: string, changes: Change[]): Promise<void> {
    const group = await this.originals.group(groupId);
    if (group === undefined) return;
    const { name, creatorId } = group;
    if (group.isDismissed) {
      // Once. Its memberships end later, in any number of steps.
      const isNew = changes.some(({ kind, what }) => kind === 'group.dismissed' && what !== AGAIN);
      if (isNew) await this.notifyGroup(groupId, 'Dismiss', creatorId);
      // A late call for a member makes the group again.
      if (isNew || changes.some(({ what }) => what === AGAIN))
        await this.api.call('/group/dismiss.json', { userId: creatorId, groupId });
      return;
    }
    const isAll = changes.some(({ kind }) => kind === ALL_OF.group);
    const changed = othersIn(changes.filter(({ kind }) => kind === 'members.changed'));
    await this.changeMembers(groupId, name, isAll ? await this.originals.everMembers(groupId) : changed);
    if (isAll || changes.some(({ kind }) => kind === 'group.changed'))
      await this.api.call('/group/refresh.json', { groupId, groupName: name });
    await this.notifyOfChanges(groupId, group, changes);
  }

  private async changeMembers(groupId: string, groupName: string, others: string[]): Promise<void> {
    for (const some of inParts(others, MEMBERS_A_CALL)) {
      const joined = await this.originals.members(groupId, some);
      const left = some.filter((id) => !joined.includes(id));
      // Makes the group, if there is none yet.
      if (joined.length > 0) await this.api.call('/group/create.json', { userId: joined, groupId, groupName });
      if (left.length > 0) await this.api.call('/group/quit.json', { userId: left, groupId });
    }
  }

  private async notifyOfChanges(
    groupId: string,
    { name, creatorId }: { name: string; creatorId: string },
    changes: Change[],
  ): Promise<void> {
    const isNew = changes.some(({ kind }) => kind === 'group.created');
    if (isNew) await this.notifyGroup(groupId, 'Create', creatorId, { targetGroupName: name });
    const renames = changes.some(({ kind, what }) => kind === 'group.changed' && what === 'renamed');
    if (renames) await this.notifyGroup(groupId, 'Rename', creatorId, { targetGroupName: name });
    const moved = { Add: isNew ? [] : membersBy('joined', changes), Quit: membersBy('left', changes) };
    for (const [operation, ids] of Object.entries(moved))
      for (const some of inParts(ids, MEMBERS_A_CALL)) {
        const users = await this.originals.users(some);
        const targetUserDisplayNames = some.map((id) => users.find((user) => user.id === id)?.nickname ?? '');
        await this.notifyGroup(groupId, operation, some[0] ?? '', { targetUserIds: some, targetUserDisplayNames });
      }
  }

  private async notifyGroup(
    groupId: string,
    operation: string,
    operatorUserId: string,
    more: Record<string, string | string[]> = {},
  ): Promise<void> {
    const data = { ...more, timestamp: this.api.now() };
    await this.api.call('/message/group/publish.json', {
      fromUserId: SYSTEM,
      toGroupId: groupId,
      objectName: 'ST:GrpNtf',
      content: JSON.stringify({ operatorUserId, operation, data, message: '' }),
    });
  }
}

function membersBy(what: string, changes: Change[]): string[] {
  return othersIn(changes.filter((change) => change.kind === 'members.changed' && change.what === what));
}

function othersIn(changes: Change[]): string[] {
  return [...new Set(changes.map(({ other }) => other))];
}

function inParts(ids: string[], most: number): string[][] {
  return Array.from({ length: Math.ceil(ids.length / most) }, (_, part) => ids.slice(part * most, (part + 1) * most));
}
