import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../scripts/dependencies.mjs';
import { PASSWORD, REGION, SQL } from './people.mjs';

const { hash } = createRequire(join(root, 'package.json'))('bcrypt');

const DAY = 86_400_000;

/** Users that can log in, each with a session as a login writes it. Versions are set by the triggers, as always. */
export async function seedAccounts(client, users) {
  const passwordHash = await hash(PASSWORD, 10);
  const now = Date.now();
  const life = 30 * DAY;
  const expires = new Date(now + life);
  const cookie = { originalMaxAge: life, expires, secure: true, httpOnly: true, path: '/', sameSite: 'lax' };
  const id = SQL.id('n');
  const numbers = `generate_series(0, ${users - 1}) AS n`;
  await client.query(
    `INSERT INTO users (id, nickname, portrait_uri, password_hash)
     SELECT ${id}, ${SQL.nickname('n')}, 'https://img.example.com/' || ${id} || '.png', $1 FROM ${numbers}`,
    [passwordHash],
  );
  await client.query(
    `INSERT INTO phones (phone, region, user_id) SELECT ${SQL.phone('n')}, '${REGION}', ${id} FROM ${numbers}`,
  );
  await client.query(
    `INSERT INTO session (sid, sess, expire)
     SELECT ${SQL.sid('n')}, ($1::jsonb || jsonb_build_object('userId', ${id}))::json, $2 FROM ${numbers}`,
    [{ cookie, createdAt: now, renewedAt: now }, expires],
  );
  await client.query('VACUUM ANALYZE');
}

/** How many users have friends and groups, the first ones: a number that the group size divides, and no stride but the first. */
export const circleOf = (users) => users / 5;

const GROUP_SIZE = 20;
/** By each of these the users stand in another order, so that no two of somebody's groups are the same. */
const STRIDES = [1, 3, 7, 11, 13];

/** A fifth of the users with 20 friends each, and in 5 groups of 20 members. */
export async function seedCircle(client, users) {
  const count = circleOf(users);
  const group = `'group-' || stride || '-' || place / ${GROUP_SIZE}`;
  const places = `generate_series(0, ${count - 1}) AS place, unnest(ARRAY[${STRIDES.join()}]) AS stride`;
  await client.query(
    `INSERT INTO friendships (user_id, friend_id, status)
     SELECT ${SQL.id('n')}, ${SQL.id(`(n + distance + ${count}) % ${count}`)}, 20
       FROM generate_series(0, ${count - 1}) AS n, generate_series(-10, 10) AS distance WHERE distance <> 0`,
  );
  await client.query(
    `INSERT INTO groups (id, name, creator_id)
     SELECT ${group}, ${group}, ${SQL.id(`(place::bigint * stride) % ${count}`)}
       FROM ${places} WHERE place % ${GROUP_SIZE} = 0`,
  );
  await client.query(
    `INSERT INTO group_members (group_id, member_id)
     SELECT ${group}, ${SQL.id(`(place::bigint * stride) % ${count}`)} FROM ${places}`,
  );
  await client.query('VACUUM ANALYZE');
}
