import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../scripts/dependencies.mjs';
import { PASSWORD, person, REGION } from './people.mjs';

const { hash } = createRequire(join(root, 'package.json'))('bcrypt');

const BATCH = 10_000;
const DAY = 86_400_000;

/** Users that can log in, each with a session as a login writes it. Versions are set by the triggers, as always. */
export async function seedAccounts(client, users) {
  const passwordHash = await hash(PASSWORD, 10);
  const now = Date.now();
  const life = 30 * DAY;
  const cookie = { originalMaxAge: life, expires: new Date(now + life), secure: true, httpOnly: true, path: '/' };
  const session = { cookie: { ...cookie, sameSite: 'lax' }, createdAt: now, renewedAt: now };
  await inBatches(users, async (people) => {
    const ids = people.map(({ id }) => id);
    await client.query(
      `INSERT INTO users (id, nickname, portrait_uri, password_hash)
       SELECT id, nickname, 'https://img.example.com/' || id || '.png', $3
         FROM unnest($1::text[], $2::text[]) AS one (id, nickname)`,
      [ids, people.map(({ nickname }) => nickname), passwordHash],
    );
    await client.query(
      `INSERT INTO phones (phone, region, user_id)
       SELECT phone, $3, id FROM unnest($1::text[], $2::text[]) AS one (id, phone)`,
      [ids, people.map(({ phone }) => phone), String(REGION)],
    );
    await client.query(
      `INSERT INTO session (sid, sess, expire)
       SELECT sid, sess, $3 FROM unnest($1::text[], $2::json[]) AS one (sid, sess)`,
      [people.map(({ sid }) => sid), people.map(({ id }) => ({ ...session, userId: id })), new Date(now + life)],
    );
  });
  await client.query('VACUUM ANALYZE');
}

/** Calls `insert` with all seeded users, some thousands at a time. */
export async function inBatches(users, insert) {
  for (let from = 0; from < users; from += BATCH)
    await insert(Array.from({ length: Math.min(BATCH, users - from) }, (_, index) => person(from + index)));
}

/** How many users have friends and groups: a number that the group size divides, and no stride but the first. */
export const circleOf = (users) => (users < 2_000 ? 100 : 2_000);

const GROUP_SIZE = 20;
/** By each of these the users stand in another order, so that no two of somebody's groups are the same. */
const STRIDES = [1, 3, 7, 11, 13];

/** Some users with 20 friends, and in 5 groups of 20 members. */
export async function seedCircle(client, users) {
  const ids = Array.from({ length: circleOf(users) }, (_, index) => person(index).id);
  const at = (index) => ids[(index + ids.length) % ids.length];
  const friends = ids.flatMap((id, index) =>
    Array.from({ length: 10 }, (_, distance) => [
      [id, at(index + distance + 1)],
      [id, at(index - distance - 1)],
    ]).flat(),
  );
  await client.query(
    `INSERT INTO friendships (user_id, friend_id, status) SELECT *, 20 FROM unnest($1::text[], $2::text[])`,
    columns(friends),
  );
  const members = STRIDES.flatMap((stride) =>
    ids.map((_, place) => [`group-${stride}-${Math.floor(place / GROUP_SIZE)}`, at(place * stride)]),
  );
  const [groups, memberIds] = columns(members);
  await client.query(
    `INSERT INTO groups (id, name, creator_id) SELECT DISTINCT ON (id) id, id, member FROM
       unnest($1::text[], $2::text[]) AS one (id, member) ORDER BY id`,
    [groups, memberIds],
  );
  await client.query(
    `INSERT INTO group_members (group_id, member_id)
     SELECT * FROM unnest($1::text[], $2::text[]) AS one (group_id, member_id) ORDER BY member_id`,
    [groups, memberIds],
  );
  await client.query('VACUUM ANALYZE');
}

export function columns(rows) {
  return [rows.map(([first]) => first), rows.map(([, second]) => second)];
}
