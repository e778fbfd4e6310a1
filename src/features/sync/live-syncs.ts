import type { ReadAt } from '../../database/replica';
import { statement } from '../../database/statement';
import type { Leave } from '../../load/queue';
import { EventTail } from '../events/event-tail';
import { CLAIM_KINDS, GROUP_KINDS, type Event } from '../events/events-repository';

/** Statement for the session's user, so that it finds the session. */
export const groupsOf = statement<{ id: string }, 'userId'>(
  'live-groups-of-user',
  'SELECT group_id AS id FROM group_members WHERE member_id = :userId AND NOT is_deleted',
  { distributed: 'SELECT group_id AS id FROM user_groups WHERE user_id = :userId' },
);

const friendsOf = statement<{ id: string }, 'ids'>(
  'live-friends-of-users',
  'SELECT DISTINCT friend_id AS id FROM friendships WHERE user_id = ANY (:ids::text[]) AND status <> 30',
  { prepared: false },
);

const groupsOfAll = statement<{ id: string }, 'ids'>(
  'live-groups-of-users',
  'SELECT DISTINCT group_id AS id FROM group_members WHERE member_id = ANY (:ids::text[]) AND NOT is_deleted',
  {
    prepared: false,
    distributed: 'SELECT DISTINCT group_id AS id FROM user_groups WHERE user_id = ANY (:ids::text[])',
  },
);

/** A sync that waits for a change. */
export class LiveSync {
  /** It waits for nothing any more. */
  hasEnded = false;
  keys: string[] = [];
  /** A claim of the user's number has begun or ended. */
  isClaimTold = false;
  private isTold = false;
  private tell: () => void = () => undefined;

  constructor(
    /** Returns whether it would have heard of a change. */
    readonly hears: () => boolean,
    readonly close: () => void,
  ) {}

  /** Something that concerns the user may have changed. */
  change = (): void => {
    this.isTold = true;
    this.tell();
  };

  end(): void {
    this.hasEnded = true;
    this.change();
  }

  /** Resolves when something has changed since the last call, or with false after this time. */
  async over(milliseconds: number): Promise<boolean> {
    if (!this.isTold)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.tell = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const changed = this.isTold;
    this.tell = () => undefined;
    this.isTold = false;
    return changed;
  }
}

const ofUser = (id: string) => `user ${id}`;
const ofGroup = (id: string) => `group ${id}`;

/** The syncs that wait for a change at this instance. */
export class LiveSyncs {
  private readonly waiting = new Map<string, Set<LiveSync>>();
  private readonly all = new Set<LiveSync>();
  private readonly tail: EventTail;
  private isClosed = false;

  constructor(private readonly readAt: () => ReadAt) {
    this.tail = new EventTail(readAt, (events) => this.hear(events));
  }

  get count(): number {
    return this.all.size;
  }

  /** Returns a sync that hears of each later change for this user and these groups, until it is closed. */
  async open(userId: string, groupIds: string[], leave: Leave): Promise<LiveSync> {
    const live: LiveSync = new LiveSync(
      () => this.tail.isUpToDate,
      () => {
        this.remove(live);
        leave();
      },
    );
    if (this.isClosed) live.end();
    this.all.add(live);
    this.attend(live, userId, groupIds);
    try {
      await this.tail.begin();
    } catch (error) {
      live.close();
      throw error;
    }
    return live;
  }

  /** Lets it hear of this user and these groups, and of no others. */
  attend(live: LiveSync, userId: string, groupIds: string[]): void {
    this.forget(live);
    if (!this.all.has(live)) return;
    live.keys = [ofUser(userId), ...groupIds.map(ofGroup)];
    for (const key of live.keys) {
      const others = this.waiting.get(key) ?? new Set();
      this.waiting.set(key, others.add(live));
    }
  }

  /** Ends all waits. */
  close(): void {
    this.isClosed = true;
    for (const live of this.all) live.end();
    this.tail.end();
  }

  private remove(live: LiveSync): void {
    this.all.delete(live);
    this.forget(live);
    if (this.all.size === 0) this.tail.end();
  }

  private forget(live: LiveSync): void {
    for (const key of live.keys) {
      const others = this.waiting.get(key);
      others?.delete(live);
      if (others?.size === 0) this.waiting.delete(key);
    }
  }

  private async hear(events: Event[]): Promise<void> {
    for (const { kind, subject, other } of events) {
      if (CLAIM_KINDS.includes(kind))
        for (const live of this.waiting.get(ofUser(subject)) ?? []) live.isClaimTold = true;
      this.change(GROUP_KINDS.includes(kind) ? ofGroup(subject) : ofUser(subject));
      if (other !== '') this.change(ofUser(other));
    }
    const renamed = events.filter(({ kind }) => kind === 'user.updated').map(({ subject }) => subject);
    if (renamed.length === 0) return;
    const ids = { ids: renamed };
    for (const { id } of await this.readAt()(({ reads }) => friendsOf(reads, ids))) this.change(ofUser(id));
    for (const { id } of await this.readAt()(({ reads }) => groupsOfAll(reads, ids))) this.change(ofGroup(id));
  }

  private change(key: string): void {
    for (const live of this.waiting.get(key) ?? []) live.change();
  }
}
