import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import { connectTo } from '../support/clusters';
import { FaultProxy } from '../support/fault-proxy';
import { rongCloudEnv } from '../support/messaging';
import { command, rowsOf } from '../support/operator';
import { rememberSecret } from '../support/secrets';
import { ROOT } from '../support/service-process';
import { startRongCloudStandIn, type RongCloudStandIn } from '../support/stand-ins/rongcloud';
import { until } from '../support/until';
import type { Fault, Row } from './faults';
import { flood, late, Receiver, redirectTo, take } from './receiver';
import { lastTold, statesIn } from './told';
import type { World } from './world';

const HEAD = [
  'fault',
  'events told a second',
  'longest until an event was received',
  'told twice',
  'out of order',
  'lost',
  'provider differs',
];
const MOVING_CLOCK = pathToFileURL(join(ROOT, 'test', 'faults', 'moving-clock.mjs')).href;
const HOUR_MS = 3_600_000;
const LOOPBACK = { WEBHOOK_NETWORKS: '127.0.0.0/8' };
/** Kinds that the second receiver wants. */
const KINDS = ['user.updated', 'group.created', 'members.changed'];
const PAUSE_MS = 1_200;
const CIRCLES_PAUSE_MS = 350;
const BEFORE_MS = 4_000;
/** Longer than leases, and the pauses after failures and time-outs. */
const QUIET_MS = 240_000;
/** Longest time by which an ill receiver may hold up the good one. */
const HELD_UP_MS = 15_000;
/** Messages that may arrive from an instance that is frozen. */
const MOST_IN_FLIGHT = 1;
const ILL_MS = 30_000;
const BETWEEN_MS = 5_000;
const MOST_SHOWN = 20;

interface Webhook {
  id: string;
  receiver: Receiver;
  kinds: string[];
}

interface Stage {
  vendor: RongCloudStandIn;
  /** Between the instances and the provider. */
  network: FaultProxy;
  good: Receiver;
  second: Receiver;
  /** Where nothing may come: it is the target of redirects. */
  elsewhere: Receiver;
  /** The file that moves the clock of the first instance. */
  clock: string;
  webhooks: Webhook[];
  /** The horizon when the webhooks were added. */
  version: number;
  /** State of the second webhook at the end. */
  state: 'told' | 'failing';
  isIll: boolean;
  /** Whether the second receiver was ill before, and was told late. */
  wasIll: boolean;
  /** Whether the fault may let events come twice. */
  mayRepeat: boolean;
}

type Given = Pick<Fault, 'name' | 'title' | 'play'> & Partial<Fault & Pick<Stage, 'mayRepeat'>>;

let current: Stage | undefined;

function stage(): Stage {
  if (!current) throw new Error('there is no provider');
  return current;
}

/** Plays a fault of two instances, which tell RongCloud and two webhooks of what people do. */
function ofTelling({ play, mayRepeat = false, ...fault }: Given): Fault {
  return {
    group: 'telling',
    setting: async () => {
      const vendor = await startRongCloudStandIn();
      const network = await FaultProxy.start(vendor.url);
      const [good, second, elsewhere] = [new Receiver(), new Receiver(), new Receiver()];
      for (const receiver of [good, second, elsewhere]) await receiver.start();
      const clock = join(mkdtempSync(join(tmpdir(), 'accounts-clock-')), 'milliseconds');
      const parts = { vendor, network, good, second, elsewhere, clock };
      current = { ...parts, webhooks: [], version: 0, state: 'told', isIll: false, wasIll: false, mayRepeat };
      const withClock = { NODE_OPTIONS: `--import ${MOVING_CLOCK}`, CLOCK_FILE: clock };
      const env = { ...rongCloudEnv(vendor), RONGCLOUD_API_URL: network.url, ...LOOPBACK, ...withClock };
      const othersEnv = { NODE_OPTIONS: '' };
      return { instances: 2, inTurn: true, pauseMs: PAUSE_MS, circlesPauseMs: CIRCLES_PAUSE_MS, env, othersEnv };
    },
    play: async (world) => {
      await world.pause();
      await addWebhooks(world);
      world.resume();
      await sleep(BEFORE_MS);
      await play(world);
    },
    table: { head: HEAD, judge },
    tidyUp: async () => {
      const { vendor, network, good, second, elsewhere, clock } = stage();
      current = undefined;
      rmSync(dirname(clock), { recursive: true, force: true });
      await network.close();
      await vendor.close();
      for (const receiver of [good, second, elsewhere]) await receiver.kill();
    },
    ...fault,
  };
}

/** Adds them while nothing happens, so that it is known of which event each is told first. */
async function addWebhooks(world: World): Promise<void> {
  const { good, second } = stage();
  const { databaseUrl } = world;
  const place = { databaseUrl, ownerUrl: databaseUrl, dataDir: world.cluster.path };
  for (const [receiver, kinds] of [[good, []] as const, [second, KINDS] as const]) {
    const parts = await command(place, 'webhooks add', [receiver.url, kinds.join()], {}, LOOPBACK);
    const [row] = rowsOf(parts, 'added');
    stage().webhooks.push({ id: String(row?.id), receiver, kinds: [...kinds] });
    receiver.secret = rememberSecret(String(row?.secret));
  }
  const client = await connectTo(world.databaseUrl);
  const { rows } = await client.query<{ version: number }>('SELECT max(version)::float8 AS version FROM webhooks');
  stage().version = rows[0]?.version ?? 0;
  await client.end();
}

interface Event {
  id: string;
  kind: string;
  at: number;
}

/** Judges when all is quiet again. */
async function judge(world: World, title: string): Promise<Row> {
  const { webhooks, good, second, elsewhere, version, isIll, wasIll, mayRepeat } = stage();
  const client = await connectTo(world.databaseUrl);
  try {
    const whole = webhooks.filter(({ receiver }) => !isIll || receiver !== second);
    const left = () => unfinished(client, whole);
    await until(async () => (await left()).length === 0, QUIET_MS, 250).catch(() => undefined);
    const { rows: events } = await client.query<Event>(EVENTS, [version]);
    const states = await statesIn(client);
    const judged = whole.map((webhook) => judgeReceived(webhook, events, states));
    const differs = await differences(client);
    const sum = (name: 'twice' | 'outOfOrder' | 'lost') => judged.reduce((total, one) => total + one[name], 0);
    const counts = [sum('twice'), sum('outOfOrder'), sum('lost'), differs.length];
    const timed = judged.filter((_, index) => !wasIll || whole[index]?.receiver === good);
    const longestMs = Math.max(...timed.map((one) => one.longestMs));
    const problems = [
      ...(await left()),
      ...judged.flatMap((one) => one.problems),
      ...differs,
      ...(await wrongStates(client)),
      ...(elsewhere.received.length > 0 ? ['a redirect was followed'] : []),
      ...[good, second].filter(({ refused }) => refused > 0).map(({ refused }) => `${refused} signatures were refused`),
      ...(sum('twice') > 0 && !mayRepeat ? ['events came twice, which this fault does not explain'] : []),
      ...(isIll && longestMs > HELD_UP_MS ? ['an ill receiver held up the good one'] : []),
    ];
    for (const problem of problems.slice(0, MOST_SHOWN)) process.stderr.write(`  ${problem}\n`);
    return {
      cells: [title, rateOf(good).toFixed(0), `${(longestMs / 1_000).toFixed(1)} s`, ...counts.map(String)],
      isGood: problems.length === 0,
    };
  } finally {
    await client.end();
  }
}

/** Returns how many events a second it was told, from its first to its last. */
function rateOf({ received }: Receiver): number {
  const seconds = ((received.at(-1)?.at ?? 0) - (received[0]?.at ?? 0)) / 1_000;
  return new Set(received.map(({ id }) => id)).size / seconds;
}

async function wrongStates(client: Client): Promise<string[]> {
  const { webhooks, second, state } = stage();
  const { rows } = await client.query<{ id: string; state: string }>(STATES);
  return webhooks.flatMap(({ id, receiver }) => {
    const found = rows.find((row) => row.id === id)?.state ?? 'missing';
    const expected = receiver === second ? state : 'told';
    return found === expected ? [] : [`a webhook is ${found} instead of ${expected}`];
  });
}

/** Judges first receptions: a receiver skips what it has seen. */
function judgeReceived({ receiver: { received }, kinds }: Webhook, events: Event[], states: Map<string, string>) {
  const wanted = events.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
  const ids = new Set(wanted.map(({ id }) => id));
  const first = new Map<string, number>();
  for (const { id, at } of received) if (!first.has(id)) first.set(id, at);
  const wrong = lastTold(received).filter(([key, what]) => states.get(key) !== what);
  const outOfOrder = wrong.length;
  const lost = wanted.filter(({ id }) => !first.has(id));
  const foreign = [...first.keys()].filter((id) => !ids.has(id));
  return {
    longestMs: Math.max(0, ...wanted.map(({ id, at }) => (first.get(id) ?? at) - at)),
    twice: received.length - first.size,
    outOfOrder,
    lost: lost.length,
    problems: [
      ...wrong.map(([key, what]) => `told last of ${key}: ${what}, which is ${states.get(key) ?? 'missing'}`),
      ...lost.map(({ id, kind }) => `lost: ${kind} ${id}`),
      ...foreign.map((id) => `not an event that it wants: ${id}`),
    ],
  };
}

const AT_ITS_PLACE = '(events.version, events.number, events.subject) > (place.version, place.number, place.subject)';

/** Returns what is not told yet. */
async function unfinished(client: Client, webhooks: Webhook[]): Promise<string[]> {
  const { rows } = await client.query<{ what: string }>(
    `SELECT 'a turn of the provider: ' || subject AS what FROM messaging_turns
      UNION ALL
     SELECT 'a change for the provider: ' || subject FROM messaging_changes
      UNION ALL
     SELECT 'an event that is not read: ' || events.kind FROM event_readers AS place JOIN events ON ${AT_ITS_PLACE}
      UNION ALL
     SELECT 'an event that a webhook is not told: ' || events.kind
       FROM webhooks AS place JOIN events ON ${AT_ITS_PLACE} WHERE id = ANY ($1)`,
    [webhooks.map(({ id }) => id)],
  );
  return rows.map(({ what }) => what);
}

const EVENTS = `
  SELECT concat_ws('-', version, number, subject) AS id, kind, extract(epoch FROM at)::float8 * 1000 AS at FROM events
   WHERE version > $1 ORDER BY version, number, subject`;

const STATES = `
  SELECT id, CASE WHEN paused_at IS NOT NULL THEN 'paused' WHEN failing_since IS NOT NULL THEN 'failing' ELSE 'told' END
           AS state
    FROM webhooks`;

interface User {
  id: string;
  name: string | null;
  portraitUri: string;
  others: string[];
}

/** Users with a token are those whose profile the provider has to know. */
const USERS = `
  SELECT id, portrait_uri AS "portraitUri",
         CASE WHEN EXISTS (SELECT FROM messaging_tokens WHERE user_id = id) THEN nickname END AS name,
         ARRAY(SELECT friend_id FROM blacklist WHERE user_id = id AND status) AS others
    FROM users`;

const GROUPS = `
  SELECT id, name, dismissed_at IS NOT NULL AS "isDismissed",
         ARRAY(SELECT member_id FROM group_members WHERE group_id = id AND NOT is_deleted) AS others
    FROM groups`;

/** Returns in what the provider's copies differ from the database. */
async function differences(client: Client): Promise<string[]> {
  const { vendor } = stage();
  const users = await client.query<User>(USERS);
  const groups = await client.query<{ id: string; name: string; isDismissed: boolean; others: string[] }>(GROUPS);
  const differs: string[] = [];
  for (const { id, name, portraitUri, others } of users.rows) {
    if (!isDeepStrictEqual(vendor.blacklist(id), others.sort())) differs.push(`blacklist of ${id}`);
    if (name !== null && !isDeepStrictEqual(vendor.profile(id), { name, portraitUri }))
      differs.push(`profile of ${id}`);
  }
  for (const { id, name, isDismissed, others } of groups.rows) {
    const copy = vendor.group(id);
    // The provider makes a group with its first member, and keeps it after the last one has left.
    const isSame =
      isDismissed || (others.length === 0 && !copy) ? !copy : isDeepStrictEqual(copy, { name, members: others.sort() });
    if (!isSame) differs.push(`group ${id}: ${JSON.stringify(copy)}`);
  }
  return differs;
}

const ill = (answer: () => Receiver['answer'], state: Stage['state']) => async () => {
  Object.assign(stage(), { isIll: true, wasIll: true, state });
  stage().second.answer = answer();
  await sleep(ILL_MS);
};

const PLAYED: Given[] = [
  { name: 'telling-none', title: 'none', play: () => sleep(10_000) },
  {
    name: 'telling-kill',
    mayRepeat: true,
    title: 'kill -9 of an instance, and its restart, four times in turn',
    play: async (world) => {
      for (const index of [0, 1, 0, 1]) {
        const killed = world.instances[index];
        killed?.signal('SIGKILL');
        await killed?.exited;
        await world.startInstance(index);
        await sleep(2_000);
      }
    },
  },
  {
    name: 'telling-freeze',
    mayRepeat: true,
    title: 'an instance is frozen for 40 s while it tells a webhook',
    play: async ({ instances: [frozen] }) => {
      const { received } = stage().good;
      // It has to be frozen while it tells the good webhook, so that the other one tells nothing.
      for (let before = -MOST_IN_FLIGHT; received.length > before + MOST_IN_FLIGHT;) {
        frozen?.signal('SIGCONT');
        await sleep(100);
        frozen?.signal('SIGSTOP');
        await sleep(100);
        before = received.length;
        await sleep(2_000);
      }
      await sleep(40_000);
      frozen?.signal('SIGCONT');
    },
  },
  {
    name: 'telling-database',
    mayRepeat: true,
    title: 'kill -9 of the whole PostgreSQL',
    play: ({ cluster }) => cluster.killServer(),
  },
  {
    name: 'telling-failover',
    mayRepeat: true,
    title: 'the primary dies, a synchronous standby takes over',
    play: (world) => world.failOver(),
  },
  {
    name: 'telling-provider-refuses',
    title: 'the provider refuses connections for 8 s',
    play: async () => {
      stage().network.refuse();
      await sleep(8_000);
      stage().network.resume();
    },
  },
  {
    name: 'telling-provider-hangs',
    title: 'the provider does not answer some calls, and does them after 8 s, three times',
    play: async () => {
      for (let count = 0; count < 3; count += 1) {
        // A call that is repeated comes by another connection, and is done before.
        const goOn = stage().network.stallPresent();
        await sleep(8_000);
        goOn();
      }
    },
  },
  {
    name: 'telling-provider-cuts',
    title: "the provider's connections are cut ten times, and then fall silent",
    play: async () => {
      for (let count = 0; count < 10; count += 1) {
        stage().network.cut();
        await sleep(500);
      }
      stage().network.mute();
      await sleep(12_000);
    },
  },
  {
    name: 'telling-receiver',
    mayRepeat: true,
    title: 'both receivers are killed, and are back after 4 s, three times',
    play: async () => {
      const { good, second } = stage();
      for (let count = 0; count < 3; count += 1) {
        for (const receiver of [good, second]) await receiver.killAtNext();
        await sleep(4_000);
        for (const receiver of [good, second]) await receiver.start();
        await sleep(4_000);
      }
    },
  },
  {
    name: 'telling-late',
    title: 'another receiver answers after 60 s',
    play: ill(() => late, 'failing'),
  },
  {
    name: 'telling-flood',
    title: 'another receiver answers with 10 GB',
    play: ill(() => flood, 'told'),
  },
  {
    name: 'telling-redirect',
    title: 'another receiver redirects to 127.0.0.1',
    play: ill(() => redirectTo(stage().elsewhere.url), 'failing'),
  },
  {
    name: 'telling-clock',
    title: 'the clock of an instance jumps an hour ahead, two hours back, and is right again',
    play: async () => {
      for (const shift of [HOUR_MS, -HOUR_MS, 0]) {
        writeFileSync(stage().clock, String(shift));
        await sleep(10_000);
      }
    },
  },
];

export const TELLING: Fault[] = PLAYED.map(ofTelling);

/** Plays these faults in turn for so long, in a random order, while the same people go on. */
export function tellingAtRandom(minutes: number): Fault {
  return ofTelling({
    name: 'telling-random',
    mayRepeat: true,
    title: `all of these in a random order, for ${minutes} minutes`,
    play: async (world) => {
      let left: Given[] = [];
      for (const end = performance.now() + minutes * 60_000; performance.now() < end;) {
        if (left.length === 0) left = [...PLAYED];
        const [fault] = left.splice(randomInt(left.length), 1);
        process.stdout.write(`  ${fault?.title}\n`);
        await fault?.play(world);
        stage().second.answer = take;
        Object.assign(stage(), { isIll: false, state: 'told' });
        await sleep(BETWEEN_MS);
      }
    },
  });
}
