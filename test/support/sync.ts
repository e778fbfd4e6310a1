import { Client } from 'pg';
import type { TestApp } from './app';
import { postUntilServed } from './calls';
import { otherServers } from './database';
import { FoldingClient, type SyncResult, type SyncState } from './folding-client';
import { expectOk, type SignedInPerson } from './people';
import { until } from './until';

/** The body of a client that stores the names of friends. */
export const NAMES = { names: true };

export async function sync({ agent }: SignedInPerson, version = 0, asked?: object): Promise<SyncResult> {
  const { result } = await expectOk(await postUntilServed(agent, `/user/sync/${version}`, asked));
  return result as SyncResult;
}

export function foldingClientOf(person: SignedInPerson, asked?: object): FoldingClient {
  return new FoldingClient((version) => sync(person, version, asked));
}

/** Returns the user's data as a full sync gives it. */
export async function fullState(person: SignedInPerson, asked?: object): Promise<SyncState> {
  const client = foldingClientOf(person, asked);
  await client.sync();
  return client.state();
}

/**
 * Returns a client that holds everything, and whose next answer repeats nothing. It has to wait: transactions anywhere
 * in the cluster, even those of concurrent tests, hold the horizon back for a while.
 */
export async function settledClient(person: SignedInPerson, asked?: object): Promise<FoldingClient> {
  const client = foldingClientOf(person, asked);
  // The first answer omits ended rows. The next one may have them.
  await client.sync();
  await until(async () => {
    const since = client.version;
    const result = await client.sync();
    return isEmpty(result) && result.user.timestamp <= since;
  });
  return client;
}

export function isEmpty({ blacklist, friends, groups, group_members }: SyncResult): boolean {
  return blacklist.length + friends.length + groups.length + group_members.length === 0;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Connects as another service, for transactions that stay open during other work. */
export async function connectWriter({ ownerUrl }: Pick<TestApp, 'ownerUrl'>): Promise<Client> {
  const client = new Client(ownerUrl);
  // A database dropped at the end of a test closes its connections.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Starts a statement and returns when it is done or waits for a lock; `blocked` says which. */
export async function runUntilBlocked(
  { db }: Pick<TestApp, 'db'>,
  writer: Client,
  sql: string,
  values: unknown[] = [],
) {
  const isCitus = otherServers().length > 0;
  const { rows } = await writer.query<{ pid: number }>(
    isCitus ? 'SELECT citus_backend_gpid() AS pid' : 'SELECT pg_backend_pid() AS pid',
  );
  let isDone = false;
  const done = writer.query(sql, values).finally(() => (isDone = true));
  // A caller that awaits `done` later gets its failure. Until then it must not count as unhandled.
  done.catch(() => undefined);
  let blocked = false;
  await until(async () => {
    const answer = await db.raw<{ rows: { blocked: boolean }[] }>(
      isCitus
        ? 'SELECT EXISTS (SELECT FROM citus_lock_waits WHERE waiting_gpid = ?) AS blocked'
        : 'SELECT cardinality(pg_blocking_pids(?)) > 0 AS blocked',
      [rows[0]?.pid ?? 0],
    );
    blocked = answer.rows[0]?.blocked ?? false;
    return blocked || isDone;
  });
  return { blocked, done };
}

/** Inserts a group of these people. The first one is its creator. */
export async function insertGroup({ db }: Pick<TestApp, 'db'>, id: string, members: { id: string }[]): Promise<void> {
  const [creator] = members;
  await db('groups').insert({ id, name: `Group ${id}`, creator_id: creator?.id ?? 'nobody' });
  await db('group_members').insert(
    members.map((member) => ({ group_id: id, member_id: member.id, role: member === creator ? 0 : 1 })),
  );
}
