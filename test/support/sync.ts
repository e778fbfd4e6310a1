import { Client } from 'pg';
import type { TestApp } from './app';
import { FoldingClient, type SyncResult, type SyncState } from './folding-client';
import { expectOk, type SignedInPerson } from './people';
import { until } from './until';

/** What a client asks for that keeps the names of friends. */
export const NAMES = { names: true };

export async function sync({ agent }: SignedInPerson, version = 0, asked?: object): Promise<SyncResult> {
  const { result } = await expectOk(agent.post(`/user/sync/${version}`).send(asked));
  return result as SyncResult;
}

export function foldingClientOf(person: SignedInPerson, asked?: object): FoldingClient {
  return new FoldingClient((version) => sync(person, version, asked));
}

/** What the user's data is, as someone sees it who asks for all of it. */
export async function fullState(person: SignedInPerson, asked?: object): Promise<SyncState> {
  const client = foldingClientOf(person, asked);
  await client.sync();
  return client.state();
}

/**
 * A client that holds everything, and whose next answer repeats nothing: transactions anywhere in the cluster, those of
 * tests that run beside this one too, hold the horizon back for a while.
 */
export async function settledClient(person: SignedInPerson, asked?: object): Promise<FoldingClient> {
  const client = foldingClientOf(person, asked);
  // The first answer has nothing that has ended, and the next one may have it.
  await client.sync();
  await until(async () => isEmpty(await client.sync()));
  return client;
}

export function isEmpty({ blacklist, friends, groups, group_members }: SyncResult): boolean {
  return blacklist.length + friends.length + groups.length + group_members.length === 0;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Another service's connection, for transactions that stay open while others go on. */
export async function connectWriter({ ownerUrl }: Pick<TestApp, 'ownerUrl'>): Promise<Client> {
  const client = new Client(ownerUrl);
  // A database that is dropped at the end of a test takes its connections along.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Starts a statement and comes back once it is done or waits for a lock; `blocked` tells which. */
export async function runUntilBlocked(
  { db }: Pick<TestApp, 'db'>,
  writer: Client,
  sql: string,
  values: unknown[] = [],
) {
  const { rows } = await writer.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  let isDone = false;
  const done = writer.query(sql, values).finally(() => (isDone = true));
  // Whoever awaits `done` later gets its failure; until then it is nobody's.
  done.catch(() => undefined);
  let blocked = false;
  await until(async () => {
    const answer = await db.raw<{ rows: { blocked: boolean }[] }>(
      'SELECT cardinality(pg_blocking_pids(?)) > 0 AS blocked',
      [rows[0]?.pid ?? 0],
    );
    blocked = answer.rows[0]?.blocked ?? false;
    return blocked || isDone;
  });
  return { blocked, done };
}

/** A group of these people, the first of them its creator. */
export async function insertGroup({ db }: Pick<TestApp, 'db'>, id: string, members: { id: string }[]): Promise<void> {
  const [creator] = members;
  await db('groups').insert({ id, name: `Group ${id}`, creator_id: creator?.id ?? 'nobody' });
  await db('group_members').insert(
    members.map((member) => ({ group_id: id, member_id: member.id, role: member === creator ? 0 : 1 })),
  );
}
