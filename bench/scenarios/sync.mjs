import { subject } from '../load.mjs';
import { compare, rateRatio } from '../measure.mjs';
import { answerTo, readRequests, syncRequests } from '../people.mjs';
import { builds, startService } from '../processes.mjs';
import { floor } from '../readers.mjs';
import { horizon, seedCircle } from '../seed.mjs';

const CHANGES = 10;
/** Changes five friendships of each user, and one member in each of the user's five groups. */
const SOME_CHANGES = [
  `UPDATE friendships SET display_name = 'Changed' WHERE (user_id, friend_id) IN (
     SELECT user_id, friend_id FROM (
       SELECT user_id, friend_id, row_number() OVER (PARTITION BY user_id ORDER BY friend_id) AS place
         FROM friendships) numbered WHERE place <= 5)`,
  `UPDATE group_members SET display_name = 'Changed' WHERE (group_id, member_id) IN (
     SELECT group_id, min(member_id) FROM group_members GROUP BY group_id)`,
];

export const title = 'Synchronising';

const titles = {
  floor: 'floor: reading a user',
  'nothing new': 'POST /user/sync/:version, nothing new (5 groups of 20 members, 20 friends)',
  '10 changes': 'POST /user/sync/:version, 10 changes since',
};

const targets = [
  ['nothing new', 'nothing new: requests/s, ratio to the floor of reading a user', 'at least', 0.65, rateRatio],
  ['10 changes', '10 changes: requests/s, ratio to the floor of reading a user', 'at least', 0.5, rateRatio],
];

export async function run(bench) {
  const { postgres } = bench;
  const { users } = bench.options;
  const old = await seedCircle(postgres, 'bench', users);
  await postgres.fill('bench', SOME_CHANGES);
  const now = await horizon(postgres, 'bench');
  const bare = await floor.start(bench);
  const requests = (version) => syncRequests(bench, version, users);
  const reads = subject(bench, bare, 'floor', readRequests(bench));
  const syncs = [];
  for (const { folder, ending } of builds(bench)) {
    const server = await startService(bench, { folder });
    await check(server, requests(now), 0);
    await check(server, requests(old), CHANGES);
    syncs.push(subject(bench, server, `nothing new${ending}`, requests(now)));
    syncs.push(subject(bench, server, `10 changes${ending}`, requests(old)));
  }
  return { titles, ...(await compare(bench, reads, syncs, targets)) };
}

async function check(server, requests, changes) {
  for (const request of requests.slice(0, 5)) {
    const { status, body } = await answerTo(server, request);
    const { friends = [], group_members: members = [] } = body.result ?? {};
    if (status !== 200 || friends.length + members.length !== changes)
      throw new Error(`sync gives a wrong answer: ${status} ${JSON.stringify(body)}`);
  }
  const [{ headers, ...first }] = requests;
  const forged = { ...first, headers: { ...headers, Cookie: `${headers.Cookie.slice(0, -1)}_` } };
  if ((await answerTo(server, forged)).status !== 401) throw new Error('sync takes a forged session');
}
