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

/** Waits are rounded up to this: Node keeps a list of timers for each length. */
const ROUND_MS = 100;
/** Syncs that look at once for what has changed: a change for thousands must not delay everybody else. */
const MOST_LOOKING = 8;

/** A sync that waits for a change. */
export class LiveSync {
  /** It waits for nothing any more. */
  hasEnded = false;
  /** Whether the last wait has ended by a change. */
  hasChanged = false;
  /** A claim of the user's number has begun or ended. */
  isClaimTold = false;
  keys: string[] = [];
  private isTold = false;
  private timer: NodeJS.Timeout | undefined;
  private wake: (() => void) | undefined;

  constructor(
    private readonly lives: LiveSyncs,
    private readonly freePlace: Leave,
  ) {}

  /** Whether it would have heard of a change. */
  get hears(): boolean {
    return this.lives.hearsAll;
  }

  /** Something that concerns the user may have changed. */
  change(): void {
    this.isTold = true;
    if (this.wake) this.lives.wakeInTurn(this);
  }

  end(): void {
    this.hasEnded = true;
    this.isTold = true;
    this.endWait();
  }

  /** Has looked, and lets the next one look. */
  endTurn(): void {
    this.lives.endTurn(this);
  }

  /** Ends, hears of nothing more, and frees its place. */
  leave(): void {
    this.end();
    this.lives.remove(this);
    this.freePlace();
  }

  /** Resolves when something has changed since the last wait, or after this time. */
  wait(milliseconds: number): Promise<void> {
    this.endTurn();
    return new Promise((resolve) => {
      this.wake = resolve;
      this.timer = setTimeout(endWait, Math.ceil(milliseconds / ROUND_MS) * ROUND_MS, this);
      if (this.hasEnded) this.endWait();
      else if (this.isTold) this.lives.wakeInTurn(this);
    });
  }

  endWait(): void {
    if (!this.wake) return;
    clearTimeout(this.timer);
    this.hasChanged = this.isTold;
    this.isTold = false;
    this.wake();
    this.wake = this.timer = undefined;
  }
}

const endWait = (live: LiveSync) => live.endWait();

const ofUser = (id: string) => `user ${id}`;
const ofGroup = (id: string) => `group ${id}`;

/** The syncs that wait for a change at this instance. */
export class LiveSyncs {
  /** By what they wait for. Most have one entry, for which a Set would take four times the memory. */
  private readonly waiting = new Map<string, LiveSync[]>();
  private readonly all = new Set<LiveSync>();
  /** Syncs that have heard of a change, and look for it in this order. */
  private readonly woken = new Set<LiveSync>();
  private readonly looking = new Set<LiveSync>();
  private readonly tail: EventTail;
  private isClosed = false;

  constructor(private readonly readAt: () => ReadAt) {
    this.tail = new EventTail(readAt, (events) => this.hear(events));
  }

  get count(): number {
    return this.all.size;
  }

  /** Whether all changes have been heard of until a moment ago. */
  get hearsAll(): boolean {
    return this.tail.isUpToDate;
  }

  /** Returns a sync that hears of each later change for this user and these groups, until it leaves. */
  async open(userId: string, groupIds: string[], freePlace: Leave): Promise<LiveSync> {
    const live = new LiveSync(this, freePlace);
    if (this.isClosed) live.end();
    this.all.add(live);
    this.attend(live, userId, groupIds);
    try {
      await this.tail.begin();
    } catch (error) {
      live.leave();
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
      const others = this.waiting.get(key);
      if (others) others.push(live);
      else this.waiting.set(key, [live]);
    }
  }

  wakeInTurn(live: LiveSync): void {
    this.woken.add(live);
    this.wakeNext();
  }

  endTurn(live: LiveSync): void {
    if (this.looking.delete(live)) this.wakeNext();
  }

  remove(live: LiveSync): void {
    this.all.delete(live);
    this.forget(live);
    this.woken.delete(live);
    this.endTurn(live);
    if (this.all.size === 0) this.tail.end();
  }

  /** Ends all waits. */
  close(): void {
    this.isClosed = true;
    for (const live of this.all) live.end();
    this.tail.end();
  }

  private wakeNext(): void {
    for (const live of this.woken) {
      if (this.looking.size >= MOST_LOOKING) return;
      this.woken.delete(live);
      this.looking.add(live);
      live.endWait();
    }
  }

  private forget(live: LiveSync): void {
    for (const key of live.keys) {
      const others = this.waiting.get(key) ?? [];
      others.splice(others.indexOf(live), 1);
      if (others.length === 0) this.waiting.delete(key);
    }
    live.keys = [];
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
