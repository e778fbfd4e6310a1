import { isDeepStrictEqual } from 'node:util';
import { copyDistributed } from '../support/citus';
import { connectTo } from '../support/clusters';
import { inspectImage } from '../support/images';
import { stateOf } from '../support/synced';
import { until } from '../support/until';
import type { Call } from './calls';
import type { Person } from './person';
import type { World } from './world';

export interface Verdict {
  lost: string[];
  halfDone: string[];
  diverged: string[];
}

/**
 * Judges when all is quiet again: is everything there that was promised, is nothing half done, and do all clients know?
 */
export async function judge(world: World): Promise<Verdict> {
  await until(async () => (await world.calls.call('/readyz', 'readyz', { method: 'GET' })).status === 200, 30_000);
  const client = await connectTo(world.databaseUrl);
  try {
    const lost = [...(await world.other.lost(client))];
    for (const person of world.everybody) lost.push(...(await lostOf(world, person, client)));
    await client.query('BEGIN');
    if (world.isDistributed) await copyDistributed((sql) => client.query(sql));
    const { rows } = await client.query<{ what: string }>(HALF_DONE);
    return { lost, halfDone: rows.map(({ what }) => what), diverged: await divergedOf(world) };
  } finally {
    await client.end();
  }
}

interface Kept {
  nickname: string;
  portrait_uri: string;
  phone: string | null;
}

async function lostOf(world: World, person: Person, client: Awaited<ReturnType<typeof connectTo>>): Promise<string[]> {
  if (person.registered === 'maybe') await person.logIn();
  if (person.registered !== 'yes') return person.broken;
  const lost = [...person.broken];
  const { rows } = await client.query<Kept>(
    'SELECT nickname, portrait_uri, phone FROM users LEFT JOIN phones ON user_id = id WHERE id = $1',
    [person.id],
  );
  const [kept] = rows;
  if (!kept) return [`account ${person.id}`];
  if (kept.phone !== `+44${person.phone}`) lost.push(`phone of ${person.id}`);
  if (!person.nicknames.has(kept.nickname))
    lost.push(`nickname ${kept.nickname} instead of ${[...person.nicknames].join(' or ')}`);
  if (!person.portraits.has(kept.portrait_uri)) lost.push(`portrait ${kept.portrait_uri}`);
  const blacklist = await client.query<{ friend_id: string }>(
    'SELECT friend_id FROM blacklist WHERE user_id = $1 AND status',
    [person.id],
  );
  const blacklisted = new Set(blacklist.rows.map(({ friend_id }) => friend_id));
  for (const [friend, states] of person.blacklist)
    if (!states.has(blacklisted.has(friend))) lost.push(`blacklist entry of ${person.id}`);
  for (const cookie of person.cookies)
    if ((await world.calls.post(`/user/${person.id}`, { cookie })).status !== 200) lost.push(`session of ${person.id}`);
  for (const key of person.images) {
    const { status, body } = await world.calls.call(`/files/${key}`, 'files', { method: 'GET' });
    const shown = status === 200 ? await inspectImage(body).catch(() => undefined) : undefined;
    if (shown?.width !== 1) lost.push(`image ${key}`);
  }
  if (!(await person.logIn())) lost.push(`password of ${person.id}`);
  return lost;
}

const HALF_DONE = `
  SELECT 'a phone without its account: ' || phone AS what FROM phones LEFT JOIN users ON id = user_id WHERE id IS NULL
  UNION ALL
  SELECT 'an account without its phone: ' || id FROM users LEFT JOIN phones ON id = user_id WHERE phone IS NULL
  UNION ALL
  SELECT 'a session of nobody' FROM session LEFT JOIN users ON id = sess ->> 'userId' WHERE id IS NULL
  UNION ALL
  SELECT 'an account that the audit trail does not know: ' || id
    FROM users WHERE NOT EXISTS (SELECT FROM security_events WHERE user_id = users.id AND event = 'registered')
  UNION ALL
  SELECT 'a registration without an account' FROM security_events
   WHERE event = 'registered' AND NOT EXISTS (SELECT FROM users WHERE users.id = user_id)
  UNION ALL
  SELECT 'a transaction that is left open' FROM pg_stat_activity
   WHERE state LIKE 'idle in transaction%' AND datname = current_database() AND xact_start < now() - interval '10 seconds'`;

async function divergedOf(world: World): Promise<string[]> {
  const diverged: string[] = [];
  for (const person of world.people) {
    let found = await differencesOf(person);
    // A request that was answered at its deadline may have ended in between. A change that a client has missed stays
    // missed.
    for (let attempt = 0; found.length > 0 && attempt < 2; attempt += 1) found = await differencesOf(person);
    diverged.push(...found);
  }
  return diverged;
}

async function differencesOf(person: Person): Promise<string[]> {
  // A person without a certain session logs in first.
  if (!(await person.synchronise()))
    return [`client of ${person.id}, which cannot synchronise: ${person.broken.join(', ')}`];
  const [held, full] = [person.client.state(), (await person.everything()).state()];
  return [
    ...(isDeepStrictEqual(held, full) ? [] : [`client of ${person.id}`]),
    ...(isDeepStrictEqual(await stateOf(person.store), full) ? [] : [`store of ${person.id}`]),
  ];
}

/** Returns the time from the end of the fault to the start of the last call that failed, in milliseconds. */
export function recoveryOf(calls: Call[], faultEnded: number): number {
  const failed = calls.filter(({ begun, kind }) => begun > faultEnded && isFailure(kind));
  return Math.max(0, ...failed.map(({ begun }) => begun - faultEnded));
}

export function isFailure(kind: string): boolean {
  return kind === 'cut off' || kind === 'no answer' || /^(429|5..|4..)$/.test(kind);
}
