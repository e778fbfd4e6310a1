import { createRequire } from 'node:module';
import { root } from '../scripts/launch/dependencies.mjs';
import { circleOf, PASSWORD, REGION, SQL } from './people.mjs';

const { hash } = createRequire(`${root}/package.json`)('bcrypt');

const LIFE = 30 * 86_400_000;
const GROUP_SIZE = 20;
/** Each stride puts the users in another order, so that no two groups of a user have the same members. */
const STRIDES = [1, 3, 7, 11, 13];

/** Inserts users that can log in, each with a session as a login writes it. Triggers set the versions, as always. */
export async function seedAccounts(postgres, database, users) {
  const now = Date.now();
  const expires = new Date(now + LIFE).toISOString();
  const cookie = { originalMaxAge: LIFE, expires, secure: true, httpOnly: true, path: '/', sameSite: 'lax' };
  const session = JSON.stringify({ cookie, createdAt: now, renewedAt: now, credentialsVersion: 0 });
  const passwordHash = await hash(PASSWORD, 10);
  const id = SQL.id('n');
  const numbers = `generate_series(0, ${users - 1}) AS n`;
  await postgres.createMigrated(database);
  await postgres.fill(database, [
    `INSERT INTO users (id, nickname, portrait_uri, password_hash)
     SELECT ${id}, ${SQL.nickname('n')}, 'https://img.example.com/' || ${id} || '.png', '${passwordHash}' FROM ${numbers}`,
    `INSERT INTO phones (phone, region, user_id) SELECT ${SQL.phone('n')}, '${REGION}', ${id} FROM ${numbers}`,
    `INSERT INTO session (sid, sess, expire)
     SELECT ${SQL.sid('n')}, ('${session}'::jsonb || jsonb_build_object('userId', ${id}))::json, '${expires}' FROM ${numbers}`,
  ]);
}

/** Gives a fifth of the users 20 friends each, and puts each of them in 5 groups of 20 members. */
export async function seedCircle(postgres, database, users) {
  const count = circleOf(users);
  const group = `'group-' || stride || '-' || place / ${GROUP_SIZE}`;
  const places = `generate_series(0, ${count - 1}) AS place, unnest(ARRAY[${STRIDES.join()}]) AS stride`;
  const member = SQL.id(`(place::bigint * stride) % ${count}`);
  await postgres.fill(database, [
    `INSERT INTO friendships (user_id, friend_id, status)
     SELECT ${SQL.id('n')}, ${SQL.id(`(n + distance + ${count}) % ${count}`)}, 20
       FROM generate_series(0, ${count - 1}) AS n, generate_series(-10, 10) AS distance WHERE distance <> 0`,
    `INSERT INTO groups (id, name, creator_id)
     SELECT ${group}, ${group}, ${member} FROM ${places} WHERE place % ${GROUP_SIZE} = 0`,
    `INSERT INTO group_members (group_id, member_id) SELECT ${group}, ${member} FROM ${places}`,
  ]);
  return horizon(postgres, database);
}

export async function horizon(postgres, database) {
  return (await postgres.run(database, ['SELECT sync_horizon() AS horizon'])).horizon;
}
