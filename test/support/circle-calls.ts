import type { Choices } from './choices';
import type { SyncState } from './folding-client';
import { CREATOR, MANAGER } from './groups';
import type { Walker } from './walker';

/** The users, and the groups that exist or existed. */
export interface World {
  walkers: Walker[];
  groups: string[];
}

/** The body of a call. Operations ignore fields that they do not know. */
export interface Body {
  groupId?: string;
  friendId?: string;
  userId?: string;
  memberIds?: string[];
  name?: string;
  nickname?: string;
  displayName?: string;
}

const FRIENDS = 20;
const ASKING = 10;
const ASKED = 11;
/** The states of a friendship to which an operation is mostly applied. */
const FIT: Record<string, number[]> = { agree: [ASKED], ignore: [ASKED], withdraw: [ASKING], delete: [FRIENDS, ASKED] };
const MOST_AT_ONCE = 3;

/**
 * A user's next call. It mostly fits what the user's client shows, so that it succeeds; otherwise it may be anything.
 */
export class NextCall {
  private readonly state: SyncState;

  constructor(
    private readonly me: Walker,
    private readonly world: World,
    private readonly choices: Choices,
  ) {
    this.state = me.client.state();
  }

  /** Returns the body for a path of CALLS. */
  bodyOf(path: string): Body {
    const { choices } = this;
    const text = `Name ${choices.numberBelow(1_000)}`;
    const [area, operation] = path.slice(1).split('/') as [string, string];
    if (operation === 'set_nickname') return { nickname: text };
    if (operation === 'create') return { name: text, memberIds: this.pickSome(this.friendsWith(FRIENDS)) };
    if (area === 'user' || operation === 'invite') return { friendId: this.pickUser() };
    if (area === 'friendship')
      return { friendId: this.pickOne(this.friendsWith(...(FIT[operation] ?? [FRIENDS]))), displayName: text };
    return { ...this.groupBody(operation), name: text, displayName: text };
  }

  /**
   * Returns other users who may do the same at that moment: members of the group, as the client shows them, or the
   * friend.
   */
  othersIn({ groupId, friendId }: Body): Walker[] {
    const group = this.state.groups.find((one) => one.group.id === groupId);
    const ids = [friendId, ...(group?.members ?? []).map(({ memberId }) => memberId)];
    return this.world.walkers.filter((walker) => walker !== this.me && ids.includes(walker.id));
  }

  /** Returns a body for mostly one of the newest groups, which other users change too. */
  private groupBody(operation: string): Body {
    const { groups } = this.world;
    const fit = this.groupsFor(operation);
    const known = [...groups.filter((id) => fit.has(id)), ...fit.keys()];
    const isOther = known.length === 0 || this.choices.numberBelow(5) === 0;
    const groupId = this.pickEarly(isOther ? groups : known) ?? 'none';
    const others = (operation === 'add' ? this.friendsWith(FRIENDS) : (fit.get(groupId) ?? [])).filter(
      (id) => id !== this.me.id,
    );
    return { groupId, memberIds: this.pickSome(others, 1), userId: this.pickOne(others) };
  }

  /** Returns the groups in which the client shows that the user may do this, with their members. */
  private groupsFor(operation: string): Map<string, string[]> {
    if (operation === 'join') return new Map();
    const isForAll = ['quit', 'set_display_name', 'add'].includes(operation);
    const isForCreator = ['dismiss', 'transfer', 'set_manager', 'remove_manager'].includes(operation);
    const fit = this.state.groups.filter(
      ({ role }) => isForAll || role === CREATOR || (!isForCreator && role === MANAGER),
    );
    return new Map(fit.map(({ group, members }) => [group.id, members.map(({ memberId }) => memberId)]));
  }

  private pickEarly(ids: string[]): string | undefined {
    return ids[this.choices.numberBelow(1 + this.choices.numberBelow(Math.max(1, ids.length)))];
  }

  private friendsWith(...statuses: number[]): string[] {
    return this.state.friends.filter(({ status }) => statuses.includes(status)).map(({ friendId }) => friendId);
  }

  private pickUser(): string {
    return this.world.walkers[this.choices.numberBelow(this.world.walkers.length)]?.id ?? this.me.id;
  }

  private pickOne(ids: string[]): string {
    const found = ids[this.choices.numberBelow(Math.max(1, ids.length))];
    return found === undefined || this.choices.numberBelow(10) === 0 ? this.pickUser() : found;
  }

  private pickSome(ids: string[], least = 0): string[] {
    return Array.from({ length: least + this.choices.numberBelow(MOST_AT_ONCE) }, () => this.pickOne(ids));
  }
}

const repeat = (path: string, times: number) => Array<string>(times).fill(path);

/** The calls that users make, each as often as it is listed. */
export const CALLS: readonly [string, ...string[]] = [
  '/group/dismiss',
  '/group/kick',
  '/group/transfer',
  '/group/rename',
  '/group/set_display_name',
  '/group/set_manager',
  '/group/remove_manager',
  ...repeat('/group/create', 3),
  ...repeat('/group/add', 4),
  ...repeat('/group/join', 6),
  ...repeat('/group/quit', 4),
  ...repeat('/friendship/invite', 8),
  ...repeat('/friendship/agree', 6),
  '/friendship/ignore',
  '/friendship/delete',
  '/friendship/withdraw',
  '/friendship/set_display_name',
  '/user/set_nickname',
  '/user/add_to_blacklist',
  '/user/remove_from_blacklist',
];
