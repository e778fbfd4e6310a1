import { atLeast } from '../checks.mjs';
import { measureRounds, medianOf, subject } from '../measure.mjs';
import { spread } from '../people.mjs';
import { answerTo, floor } from '../readers.mjs';
import { circleOf, seedCircle } from '../seed.mjs';
import { post, readRequests, startService } from '../service.mjs';

const CHANGES = 10;

export const title = 'Synchronising';

export async function run(bench) {
  const { users } = bench.options;
  const { old, now } = await bench.postgres.connected('bench', async (client) => {
    await seedCircle(client, users);
    return { old: await horizon(client), now: await change(client) };
  });
  return bench.withServers([() => floor.start(bench), () => startService(bench)], async (bare, server) => {
    const requests = (version) =>
      spread(circleOf(users), users).map((index) => post(bench, index, `/user/sync/${version}`));
    await check(server.url, requests(now), 0);
    await check(server.url, requests(old), CHANGES);
    const measured = await measureRounds(bench, subject(bench, bare, 'floor', readRequests(bench)), [
      subject(bench, server, 'nothing new', requests(now)),
      subject(bench, server, '10 changes', requests(old)),
    ]);
    const rate = (name) => medianOf(measured.measurements, name, ({ ratio }) => ratio.rate);
    const checks = [
      atLeast('nothing new: requests/s, ratio to the floor of reading a user', 0.3, rate('nothing new')),
      atLeast('10 changes: requests/s, ratio to the floor of reading a user', 0.25, rate('10 changes')),
    ];
    return { titles, ...measured, checks };
  });
}

const titles = {
  floor: 'floor: reading a user',
  'nothing new': 'POST /user/sync/:version, nothing new (5 groups of 20 members, 20 friends)',
  '10 changes': 'the same with 10 changes since',
};

export async function horizon(client) {
  const { rows } = await client.query('SELECT sync_horizon() AS horizon');
  return rows[0].horizon;
}

/** Five of everybody's friendships, and one member in each of everybody's five groups. */
async function change(client) {
  await client.query(
    `UPDATE friendships SET display_name = 'Changed' WHERE (user_id, friend_id) IN (
       SELECT user_id, friend_id FROM (
         SELECT user_id, friend_id, row_number() OVER (PARTITION BY user_id ORDER BY friend_id) AS place
           FROM friendships) numbered WHERE place <= 5)`,
  );
  await client.query(
    `UPDATE group_members SET display_name = 'Changed' WHERE (group_id, member_id) IN (
       SELECT group_id, min(member_id) FROM group_members GROUP BY group_id)`,
  );
  await client.query('VACUUM ANALYZE');
  return horizon(client);
}

async function check(url, requests, changes) {
  for (const request of requests.slice(0, 5)) {
    const { status, body } = await answerTo(url, request);
    const { friends = [], group_members: members = [] } = body.result ?? {};
    if (status !== 200 || friends.length + members.length !== changes)
      throw new Error(`sync gives a wrong answer: ${status} ${JSON.stringify(body)}`);
  }
  const [{ headers, ...first }] = requests;
  const forged = { ...first, headers: { ...headers, Cookie: `${headers.Cookie.slice(0, -1)}_` } };
  if ((await answerTo(url, forged)).status !== 401) throw new Error('sync takes a forged session');
}
