import type { ClientStorage } from '../storage.ts';
import {
  changesOf,
  LISTS,
  type ListName,
  type Lists,
  type SyncBlacklistEntry,
  type SyncFriend,
  type SyncMembership,
  type SyncMember,
} from './rows.ts';
import { chunk, type SpooledAnswer } from './spool.ts';
import { Table, type Changed } from './table.ts';

/** The changes that an answer has made. */
export interface TableChanges {
  blacklist: Changed<SyncBlacklistEntry>;
  friends: Changed<SyncFriend>;
  groups: Changed<SyncMembership>;
  /** Ids of the groups whose members have changed. */
  members: string[];
}

/** Keeps the four tables of a client, and applies answers to them. */
export class Tables {
  readonly blacklist: Table<SyncBlacklistEntry>;
  readonly friends: Table<SyncFriend>;
  readonly groups: Table<SyncMembership>;
  readonly #storage: ClientStorage;
  readonly #prefix: string;

  constructor(storage: ClientStorage, prefix: string) {
    this.#storage = storage;
    this.#prefix = prefix;
    this.blacklist = new Table(storage, `${prefix}:blacklist`, LISTS.blacklist.keyOf);
    this.friends = new Table(storage, `${prefix}:friends`, LISTS.friends.keyOf);
    this.groups = new Table(storage, `${prefix}:groups`, LISTS.groups.keyOf);
  }

  /** Returns the members of a group, or none if the user is not in it. */
  async members(groupId: string): Promise<SyncMember[]> {
    return (await this.#groupIds()).has(groupId) ? this.#membersOf(groupId).rows() : [];
  }

  /** Applies an answer in the order of docs/sync.md. After a crash, applying it again leads to the same tables. */
  async fold(spooled: SpooledAnswer): Promise<TableChanges> {
    const blacklist = newChanged<SyncBlacklistEntry>();
    const friends = newChanged<SyncFriend>();
    const groups = newChanged<SyncMembership>();
    const members = new Set<string>();
    await this.#each(spooled, 'blacklist', async (rows) =>
      add(blacklist, await this.blacklist.apply(changesOf('blacklist', rows))),
    );
    await this.#each(spooled, 'friends', async (rows) =>
      add(friends, await this.friends.apply(changesOf('friends', rows))),
    );
    const known = await this.#groupIds();
    await this.#each(spooled, 'groups', async (rows) => {
      // Before the group itself is removed or added, so that a crash never leaves members without their group.
      for (const { isDeleted, group } of rows) {
        if (isDeleted) await this.#membersOf(group.id).clear();
        else if (!known.has(group.id)) await this.#membersOf(group.id).begin();
      }
      add(groups, await this.groups.apply(changesOf('groups', rows)));
    });
    const current = await this.#groupIds();
    await this.#each(spooled, 'group_members', async (rows) => {
      for (const [groupId, some] of byGroup(rows)) {
        if (!current.has(groupId)) continue;
        const changed = await this.#membersOf(groupId).apply(changesOf('group_members', some));
        if (changed.put.length + changed.removed.length > 0) members.add(groupId);
      }
    });
    return { blacklist, friends, groups, members: [...members] };
  }

  async clear(): Promise<void> {
    for (const { group } of await this.groups.remains()) await this.#membersOf(group.id).clear();
    for (const table of [this.groups, this.friends, this.blacklist]) await table.begin();
  }

  #membersOf(groupId: string): Table<SyncMember> {
    return new Table(this.#storage, `${this.#prefix}:members:${groupId}`, LISTS.group_members.keyOf);
  }

  async #groupIds(): Promise<Set<string>> {
    return new Set((await this.groups.rows()).map(({ group }) => group.id));
  }

  async #each<Name extends ListName>(
    spooled: SpooledAnswer,
    name: Name,
    fold: (rows: Lists[Name][]) => Promise<void>,
  ): Promise<void> {
    const [, count] = spooled.chunks.find(([list]) => list === name) ?? [name, 0];
    for (let index = 0; index < count; index += 1) await fold(await chunk(this.#storage, spooled, name, index));
  }
}

export function newChanged<Row>(): Changed<Row> {
  return { put: [], removed: [] };
}

function add<Row>(all: Changed<Row>, some: Changed<Row>): void {
  all.put.push(...some.put);
  all.removed.push(...some.removed);
}

function byGroup(members: SyncMember[]): Map<string, SyncMember[]> {
  const groups = new Map<string, SyncMember[]>();
  for (const member of members) {
    const rows = groups.get(member.groupId) ?? [];
    rows.push(member);
    groups.set(member.groupId, rows);
  }
  return groups;
}
