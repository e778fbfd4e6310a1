import type { Logger } from 'pino';
import type { ReadAt } from '../../database/replica';
import { statement } from '../../database/statement';
import type { Leave } from '../../load/queue';
import type { Queues } from '../../load/queues';
import { EventTail } from '../events/event-tail';
import { CLAIM_KINDS, GROUP_KINDS, NEW_DEVICE, type Event } from '../events/events-repository';

/** Statement for the session's user, so that it finds the session. */
export const groupsOf = statement<{ id: string }, 'userId'>(
  'live-groups-of-user',
  'SELECT group_id AS id FROM group_members WHERE member_id = :userId AND NOT is_deleted',
  { distributed: 'SELECT group_id AS id FROM user_groups WHERE user_id = :userId' },
);

const HAVE_FRIENDS = `
  SELECT DISTINCT user_id AS id FROM friendships WHERE friend_id = ANY (:ids::text[]) AND status <> 30`;

/** On several servers only those of friends who wait here are asked. */
const friendsOf = statement<{ id: string }, 'ids' | 'waits'>('live-friends-of-users', HAVE_FRIENDS, {
  prepared: false,
  distributed: async (on, { ids, waits }: { ids: string[]; waits: (id: string) => boolean }) => {
    const among = (await friendsEver(on, { ids })).map(({ id }) => id).filter(waits);
    return among.length > 0 ? friendsAmong(on, { ids, among }) : [];
  },
});

const friendsAmong = statement<{ id: string }, 'ids' | 'among'>(
  'live-friends-among-users',
  `${HAVE_FRIENDS} AND user_id = ANY (:among::text[])`,
  { prepared: false },
);

/** Users who may have these as friends: `user_renamed` makes sure that each has a row on both sides. */
const friendsEver = statement<{ id: string }, 'ids'>(
  'live-friends-ever-of-users',
  'SELECT DISTINCT friend_id AS id FROM friendships WHERE user_id = ANY (:ids::text[])',
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

/** Kinds of events that tell of rows of sync. After all others, the session may have ended. */
const KINDS_OF_ROWS = ['user.updated', 'blacklist.changed', 'friendship.changed', ...GROUP_KINDS];

/** Returns the name by which pages are told of an event that no sync has. */
function pageNameOf(kind: string): string | undefined {
  if (CLAIM_KINDS.includes(kind)) return 'number_claim';
  return kind === NEW_DEVICE ? 'new_device' : undefined;
}

/** Changes and events that a page has not been told yet. */
interface News {
  /** Rows of the user may have changed. */
  hasRows: boolean;
  /** Names of events. */
  names: readonly string[];
}

/** Shared, since most waits have one of these. */
const NO_NEWS: News = Object.freeze({ hasRows: false, names: [] });
const FIRST_NEWS: News = Object.freeze({ hasRows: true, names: [] });

/** Waits are rounded up to this: Node keeps a list of timers for each length. */
const ROUND_MS = 100;

/** Takes a place, which `end` gives up for another sync. */
export type TakePlace = (end: () => void) => Leave;

/**
 * A sync that waits for a change.
 * 1. `looking`: it looks for what has changed, the first time at once, later in its turn.
 * 2. `stale`: it is still looking, and has heard of a change that it may not see. The next wait is over at once.
 * 3. `waiting`: it waits until it hears of a change, or its time is over. Then it is `looking` again.
 * 4. `ended`: its client has left, another sync has its place, or the instance stops. It waits for nothing any more.
 */
export class LiveSync {
  keys: string[] = [];
  private state: 'looking' | 'stale' | 'waiting' | 'ended' = 'looking';
  private timer: NodeJS.Timeout | undefined;
  private wake: (isChange: boolean) => void = () => undefined;
  private news = FIRST_NEWS;
  private leaveTurn: Leave | undefined;
  private readonly freePlace: Leave;

  constructor(
    private readonly lives: LiveSyncs,
    readonly userId: string,
    takePlace: TakePlace,
  ) {
    this.freePlace = takePlace(() => this.end());
  }

  get hasEnded(): boolean {
    return this.state === 'ended';
  }

  /** Whether it would have heard of a change. */
  get hears(): boolean {
    return this.lives.hearsAll;
  }

  /** Notes an event for the page. */
  name(name: string): void {
    const { names } = this.news;
    if (!names.includes(name)) this.news = { ...this.news, names: [...names, name] };
  }

  /** Returns what a page has to be told, for the last time. */
  takeNews(): News {
    const { news } = this;
    this.news = NO_NEWS;
    return news;
  }

  /** Rows of the user have changed, or the session may have ended. */
  change(hasRows = true): void {
    if (hasRows && !this.news.hasRows) this.news = { ...this.news, hasRows };
    if (this.state === 'looking') this.state = 'stale';
    else this.endWait(true);
  }

  end(): void {
    this.endWait(false);
    this.state = 'ended';
  }

  /** Ends, hears of nothing more, and frees its place. */
  leave(): void {
    this.end();
    this.endTurn();
    this.lives.remove(this);
    this.freePlace();
  }

  /** Resolves after this time, or to true when something has changed since the last wait. */
  wait(milliseconds: number): Promise<boolean> {
    this.endTurn();
    if (this.hasEnded) return Promise.resolve(false);
    const wasStale = this.state === 'stale';
    this.state = 'waiting';
    return new Promise((resolve) => {
      this.wake = resolve;
      this.timer = setTimeout(timeIsOver, Math.ceil(milliseconds / ROUND_MS) * ROUND_MS, this);
      if (wasStale) this.endWait(true);
    });
  }

  endWait(isChange: boolean): void {
    if (this.state !== 'waiting') return;
    clearTimeout(this.timer);
    this.state = 'looking';
    this.wake(isChange);
  }

  /** Resolves when it has its turn to look for what has changed, until it leaves or waits again. */
  async turn(options?: { waitMs: number }): Promise<void> {
    if (this.hasEnded) return;
    this.leaveTurn = await this.lives.syncChecks.enter(this.userId, options);
    if (this.hasEnded) this.endTurn();
  }

  /** Has looked, and lets the next one look. */
  private endTurn(): void {
    this.leaveTurn?.();
    this.leaveTurn = undefined;
  }
}

const timeIsOver = (live: LiveSync) => live.endWait(false);

const ofUser = (id: string) => `user ${id}`;
const ofGroup = (id: string) => `group ${id}`;

/** The syncs that wait for a change at this instance. */
export class LiveSyncs {
  /** By what they wait for. Most have one entry, for which a Set would take four times the memory. */
  private readonly waiting = new Map<string, LiveSync[]>();
  private readonly all = new Set<LiveSync>();
  private readonly tail: EventTail;
  private isClosed = false;

  constructor(
    private readonly readAt: () => ReadAt,
    readonly syncChecks: Queues['liveLooks'],
    logger: Pick<Logger, 'warn'>,
  ) {
    this.tail = new EventTail(readAt, (events) => this.hear(events), logger);
  }

  get count(): number {
    return this.all.size;
  }

  /** Whether all changes have been heard of until a moment ago. */
  get hearsAll(): boolean {
    return this.tail.isUpToDate;
  }

  /** The version up to which changes have been heard of. */
  get seenUntil(): number {
    return this.tail.heardUntil;
  }

  /** Returns a sync that hears of each later change for this user and these groups, until it leaves. */
  async open(userId: string, groupIds: string[], takePlace: TakePlace): Promise<LiveSync> {
    const live = new LiveSync(this, userId, takePlace);
    if (this.isClosed) live.end();
    this.all.add(live);
    this.attend(live, groupIds);
    try {
      await this.tail.begin();
    } catch (error) {
      live.leave();
      throw error;
    }
    return live;
  }

  /** Lets it hear of its user and these groups, and of no others. */
  attend(live: LiveSync, groupIds: string[]): void {
    this.forget(live);
    if (!this.all.has(live)) return;
    live.keys = [ofUser(live.userId), ...groupIds.map(ofGroup)];
    for (const key of live.keys) {
      const others = this.waiting.get(key);
      if (others) others.push(live);
      else this.waiting.set(key, [live]);
    }
  }

  remove(live: LiveSync): void {
    this.all.delete(live);
    this.forget(live);
    if (this.all.size === 0) this.tail.end();
  }

  /** Ends all waits. */
  close(): void {
    this.isClosed = true;
    for (const live of this.all) live.end();
    this.tail.end();
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
      const name = pageNameOf(kind);
      if (name !== undefined) for (const live of this.waiting.get(ofUser(subject)) ?? []) live.name(name);
      const isOfGroup = GROUP_KINDS.includes(kind);
      this.change(isOfGroup ? ofGroup(subject) : ofUser(subject), KINDS_OF_ROWS.includes(kind));
      // The member may not hear of the group yet. A user is told by events of the own rows only: to be woken by those of
      // another user would tell that this user was blacklisted, ignored, deleted or renamed there.
      if (isOfGroup && other !== '') this.change(ofUser(other));
    }
    const renamed = events.filter(({ kind }) => kind === 'user.updated').map(({ subject }) => subject);
    if (renamed.length === 0) return;
    const asked = { ids: renamed, waits: (id: string) => this.waiting.has(ofUser(id)) };
    for (const { id } of await this.readAt()(({ reads }) => friendsOf(reads, asked))) this.change(ofUser(id));
    for (const { id } of await this.readAt()(({ reads }) => groupsOfAll(reads, asked))) this.change(ofGroup(id));
  }

  private change(key: string, hasRows = true): void {
    for (const live of this.waiting.get(key) ?? []) live.change(hasRows);
  }
}
