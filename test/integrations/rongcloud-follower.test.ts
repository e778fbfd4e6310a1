import type { Change, MessagingUser, Originals } from '../../src/integrations/messaging/messaging-provider';
import { RongCloudApi } from '../../src/integrations/messaging/rongcloud/api';
import { RongCloudFollower } from '../../src/integrations/messaging/rongcloud/follower';
import { PATIENT_MS } from '../support/patience';
import { startRongCloudStandIn, type RongCloudStandIn } from '../support/stand-ins/rongcloud';

interface Group {
  name: string;
  creatorId: string;
  isDismissed: boolean;
  members: string[];
}

class OriginalsInMemory implements Originals {
  readonly people = new Map<string, MessagingUser>();
  readonly blacklists = new Map<string, string[]>();
  readonly requests = new Map<string, string>();
  readonly groups = new Map<string, Group>();
  /** Ids whose entries and memberships have ended. */
  left: string[] = [];

  async users(ids: string[]): Promise<MessagingUser[]> {
    return ids.flatMap((id) => this.people.get(id) ?? []);
  }

  async blacklisted(userId: string, ids: string[]): Promise<string[]> {
    return ids.filter((id) => this.blacklists.get(userId)?.includes(id));
  }

  async everBlacklisted(userId: string): Promise<string[]> {
    return [...(this.blacklists.get(userId) ?? []), ...this.left];
  }

  async request(userId: string, fromId: string): Promise<string | undefined> {
    return this.requests.get(`${fromId} to ${userId}`);
  }

  async group(id: string): Promise<Group | undefined> {
    return this.groups.get(id);
  }

  async members(groupId: string, ids: string[]): Promise<string[]> {
    return ids.filter((id) => this.groups.get(groupId)?.members.includes(id));
  }

  async everMembers(groupId: string): Promise<string[]> {
    return [...(this.groups.get(groupId)?.members ?? []), ...this.left];
  }
}

const at = new Date(1_790_000_000_123);
const change = (kind: string, other = '', what = ''): Change => ({ kind, other, what, at });
const joined = (ids: string[]) => ids.map((id) => change('members.changed', id, 'joined'));
const left = (ids: string[]) => ids.map((id) => change('members.changed', id, 'left'));
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `u${String(n).padStart(3, '0')}`);

describe('RongCloud follower', () => {
  let rongCloud: RongCloudStandIn;
  let originals: OriginalsInMemory;
  let follower: RongCloudFollower;
  let profiles: MessagingUser[];

  beforeEach(async () => {
    rongCloud = await startRongCloudStandIn();
    const { appKey, appSecret, url: apiUrl } = rongCloud;
    originals = new OriginalsInMemory();
    profiles = [];
    const provider = {
      profileChanged: async (user: MessagingUser) => void profiles.push(user),
      accountClosed: () => Promise.resolve(),
    };
    follower = new RongCloudFollower(
      new RongCloudApi({ appKey, appSecret, apiUrl, timeoutMs: PATIENT_MS }),
      provider,
      originals,
    );
    for (const [id, nickname] of Object.entries({ ann: 'Ann', bob: 'Bob', cat: 'Cat' }))
      originals.people.set(id, { id, nickname, portraitUri: '' });
  });
  afterEach(() => rongCloud.close());

  const paths = () => rongCloud.requests.map(({ path }) => path);
  const sizes = (name: string) => rongCloud.requests.map(({ form }) => form.getAll(name).length);
  const group = (members: string[], more: Partial<Group> = {}) =>
    originals.groups.set('hikers', { name: 'Hikers', creatorId: 'ann', isDismissed: false, members, ...more });
  const notices = () => rongCloud.notices.map(({ content }) => content);

  it.each(['tokens.ended', 'user.suspended', 'user.closed'])(
    'ends tokens after %s, those from before it',
    async (kind) => {
      await follower.follow('ann', [{ ...change(kind), at: new Date(at.getTime() - 5) }, change(kind)]);
      expect(rongCloud.requests.map(({ path, form }) => [path, Object.fromEntries(form)])).toEqual([
        ['/user/token/expire.json', { userId: 'ann', time: String(at.getTime()) }],
      ]);
    },
  );

  it('sends the profile as it is now, but not that of a closed account', async () => {
    await follower.follow('ann', [change('user.updated')]);
    await follower.follow('closed', [change('user.updated')]);
    expect(profiles).toEqual([{ id: 'ann', nickname: 'Ann', portraitUri: '' }]);
  });

  it('fails when RongCloud refuses', async () => {
    rongCloud.behave({ status: 500, code: 1000 });
    await expect(follower.follow('ann', [change('tokens.ended')])).rejects.toThrow('/user/token/expire.json');
  });

  describe('a blacklist', () => {
    // guard rongcloud-follower-3: a call of RongCloud has at most 20 blacklisted users
    // src/integrations/messaging/rongcloud/follower.ts
    // - const BLACKLISTED_A_CALL = 20;
    // + const BLACKLISTED_A_CALL = 21;
    it('is changed by 20 users a call', async () => {
      const ids = numbered(45);
      originals.blacklists.set('ann', ids);
      await follower.follow(
        'ann',
        ids.map((id) => change('blacklist.changed', id, 'added')),
      );
      expect(sizes('blackUserId')).toEqual([20, 20, 5]);
      expect(rongCloud.blacklist('ann')).toEqual(ids);
    });

    it('is equal to that of now after everything of a user is copied', async () => {
      originals.blacklists.set('ann', ['bob', 'cat']);
      await follower.follow('ann', [change('user.all')]);
      originals.blacklists.set('ann', ['cat']);
      originals.left = ['bob'];
      await follower.follow('ann', [change('user.all')]);
      expect(rongCloud.blacklist('ann')).toEqual(['cat']);
      expect(profiles).toHaveLength(2);
    });

    // guard rongcloud-follower-1: RongCloud gets the blacklist of now, not that of an old event
    // src/integrations/messaging/rongcloud/follower.ts
    // - const added = await this.originals.blacklisted(userId, some);
    // + const added = some;
    it('is equal to that of now, whatever the changes say', async () => {
      originals.blacklists.set('ann', ['bob', 'cat']);
      await follower.follow(
        'ann',
        ['bob', 'cat'].map((id) => change('blacklist.changed', id, 'added')),
      );
      originals.blacklists.set('ann', ['cat']);
      const changes = ['removed', 'added'].map((what) => change('blacklist.changed', 'bob', what));
      await follower.follow('ann', changes);
      expect(rongCloud.blacklist('ann')).toEqual(['cat']);
      expect(paths()).toEqual(['/user/blacklist/add.json', '/user/blacklist/remove.json']);
    });
  });

  describe('a group', () => {
    // guard rongcloud-follower-4: a call of RongCloud has at most 100 members
    // src/integrations/messaging/rongcloud/follower.ts
    // - const MEMBERS_A_CALL = 100;
    // + const MEMBERS_A_CALL = 101;
    it('is created with 100 members a call, who are told once', async () => {
      const ids = numbered(250);
      group(ids);
      await follower.follow('hikers', [change('group.created'), ...joined(ids)]);
      expect(sizes('userId')).toEqual([100, 100, 50, 0]);
      expect(rongCloud.group('hikers')).toEqual({ name: 'Hikers', members: ids });
      expect(notices()).toMatchObject([{ operation: 'Create' }]);
    });

    it('tells of 100 new members a notice', async () => {
      const ids = numbered(150);
      group(ids);
      await follower.follow('hikers', joined(ids));
      const told = notices().map((content) => (content as { data: { targetUserIds: string[] } }).data.targetUserIds);
      expect(told).toEqual([ids.slice(0, 100), ids.slice(100)]);
    });

    // guard rongcloud-follower-2: RongCloud gets the members of now, not those of an old event
    // src/integrations/messaging/rongcloud/follower.ts
    // - const joined = await this.originals.members(groupId, some);
    // + const joined = some;
    it('has the members of now, whatever the changes say', async () => {
      group(['ann', 'bob', 'cat']);
      await follower.follow('hikers', [change('group.created'), ...joined(['ann', 'bob', 'cat'])]);
      group(['ann', 'bob'], { name: 'Walkers' });
      await follower.follow('hikers', [...left(['bob']), ...joined(['cat', 'bob'])]);
      expect(rongCloud.group('hikers')).toEqual({ name: 'Walkers', members: ['ann', 'bob'] });
    });

    it('has all members and its name of now after everything of it is copied, and no notice is sent', async () => {
      const ids = numbered(150);
      group(ids);
      await follower.follow('hikers', [change('group.all')]);
      group(ids.slice(1), { name: 'Walkers' });
      originals.left = ids.slice(0, 1);
      await follower.follow('hikers', [change('group.all')]);
      expect(rongCloud.group('hikers')).toEqual({ name: 'Walkers', members: ids.slice(1) });
      expect(paths().slice(0, 3)).toEqual(['/group/create.json', '/group/create.json', '/group/refresh.json']);
      expect(notices()).toEqual([]);
    });

    it('gets its name of now', async () => {
      group(['ann']);
      await follower.follow('hikers', [change('group.created'), ...joined(['ann'])]);
      group(['ann'], { name: 'Walkers' });
      await follower.follow('hikers', [change('group.changed')]);
      expect(rongCloud.group('hikers')?.name).toBe('Walkers');
      expect(notices()).toMatchObject([{ operation: 'Create' }]);
    });

    // guard rongcloud-follower-5: a dismissal is told once, however many memberships it ends
    // src/integrations/messaging/rongcloud/follower.ts
    // - if (isNew) await this.notifyGroup(groupId, 'Dismiss', creatorId);
    // + await this.notifyGroup(groupId, 'Dismiss', creatorId);
    // guard rongcloud-follower-6: a dismissed group does not get members at RongCloud
    // src/integrations/messaging/rongcloud/follower.ts
    // - if (group.isDismissed) {
    // + if (group.isDismissed && changes.length === 0) {
    it('is dismissed once, and nothing is sent for its members', async () => {
      group(['ann', 'bob']);
      await follower.follow('hikers', [change('group.created'), ...joined(['ann', 'bob'])]);
      const before = rongCloud.requests.length;
      group(['ann', 'bob'], { isDismissed: true });
      await follower.follow('hikers', [change('group.changed', '', 'renamed'), ...joined(['cat'])]);
      expect(rongCloud.requests).toHaveLength(before);
      await follower.follow('hikers', [change('group.dismissed'), ...left(['bob'])]);
      await follower.follow('hikers', left(['ann']));
      expect(paths().slice(before)).toEqual(['/message/group/publish.json', '/group/dismiss.json']);
      expect(rongCloud.group('hikers')).toBeUndefined();
      expect(rongCloud.dismissed).toEqual(['hikers']);
    });

    it('that is gone from the database is left as it is', async () => {
      await follower.follow('hikers', [change('group.created'), ...joined(['ann'])]);
      expect(paths()).toEqual([]);
    });

    it.each<[string, Change[], Partial<Group>, object]>([
      ['Create', [change('group.created'), ...joined(['ann'])], {}, { data: { targetGroupName: 'Hikers' } }],
      ['Rename', [change('group.changed', '', 'renamed')], {}, { data: { targetGroupName: 'Hikers' } }],
      [
        'Add',
        joined(['bob', 'ann']),
        {},
        { operatorUserId: 'bob', data: { targetUserIds: ['bob', 'ann'], targetUserDisplayNames: ['Bob', 'Ann'] } },
      ],
      [
        'Quit',
        left(['cat', 'closed']),
        {},
        { operatorUserId: 'cat', data: { targetUserIds: ['cat', 'closed'], targetUserDisplayNames: ['Cat', ''] } },
      ],
      ['Dismiss', [change('group.dismissed')], { isDismissed: true }, { operatorUserId: 'ann' }],
    ])('shows %s to its members', async (operation, changes, more, content) => {
      group(['ann', 'bob'], more);
      await follower.follow('hikers', changes);
      expect(rongCloud.notices).toMatchObject([
        {
          path: '/message/group/publish.json',
          objectName: 'ST:GrpNtf',
          fromUserId: '__system__',
          to: 'hikers',
          content: { operatorUserId: 'ann', operation, message: '', ...content },
        },
      ]);
    });
  });

  describe('a friendship', () => {
    const notice = (operation: string, message: string) => ({
      path: '/message/system/publish.json',
      objectName: 'ST:ContactNtf',
      fromUserId: 'bob',
      to: 'ann',
      content: {
        operation,
        sourceUserId: 'bob',
        targetUserId: 'ann',
        message,
        extra: { sourceUserNickname: 'Bob', version: at.getTime() },
      },
    });

    it('shows a request to whom it is for, with its message and the nickname', async () => {
      originals.requests.set('bob to ann', 'It is Bob');
      await follower.follow('ann', [change('friendship.changed', 'bob', 'requested')]);
      expect(rongCloud.notices).toEqual([notice('Request', 'It is Bob')]);
    });

    it('shows the acceptance to whose request it was', async () => {
      await follower.follow('ann', [change('friendship.changed', 'bob', 'accepted')]);
      expect(rongCloud.notices).toEqual([notice('AcceptResponse', '')]);
    });

    it.each<[string, Change]>([
      ['a request that is there no longer', change('friendship.changed', 'bob', 'requested')],
      ['an acceptance of a closed account', change('friendship.changed', 'closed', 'accepted')],
      ['its end', change('friendship.changed', 'bob', 'deleted')],
      ['a new name', change('friendship.changed', 'bob')],
    ])('shows nothing of %s', async (_what, of) => {
      await follower.follow('ann', [of]);
      expect(paths()).toEqual([]);
    });
  });
});
