import { randomInt } from 'node:crypto';
import type { Client } from 'pg';
import { SyncStore } from '../../../packages/client/src/index.ts';
import { codeOf } from '../../../src/base/errors';
import { amount } from '../../support/amounts';
import { startApp, type TestApp } from '../../support/app';
import { otherServers } from '../../support/database';
import { Choices } from '../../support/choices';
import { signedInClient } from '../../support/client';
import { insertAndSignIn, insertPerson, type Person, type SignedInPerson } from '../../support/people';
import { connectWriter, foldingClientOf, fullState, insertGroup, NAMES, pause } from '../../support/sync';
import { stateOf, syncChanges } from '../../support/synced';

const WRITERS = amount(8, 4, 8);
const READERS = 4;
const RUN_MS = amount(5_000);
const LEAST_WRITES = 10;
const DEADLOCK = '40P01';
const seed = Number(process.env.SYNC_SEED ?? randomInt(2 ** 31));

interface World {
  people: [Person, ...Person[]];
  groups: [string, ...string[]];
}

type Statement = [sql: string, values: unknown[]];

/** Returns one of the writes that the tables are made for, including ends and returns. */
function randomWrite(choices: Choices, { people, groups }: World, count: number): Statement {
  const [ann, bob, group] = [choices.oneOf(people).id, choices.oneOf(people).id, choices.oneOf(groups)];
  const pair = ann === bob ? [ann, 'somebody'] : [ann, bob];
  return choices.oneOf<Statement>([
    ['UPDATE users SET nickname = $2 WHERE id = $1', [ann, `Name ${count}`]],
    ['UPDATE users SET portrait_uri = $2 WHERE id = $1', [ann, `https://img.example/${count}`]],
    ['UPDATE users SET password_hash = $2 WHERE id = $1', [ann, `Hash ${count}`]],
    ['UPDATE groups SET name = $2 WHERE id = $1', [group, `Group ${count}`]],
    [
      `INSERT INTO group_members (group_id, member_id) VALUES ($1, $2)
         ON CONFLICT (group_id, member_id) DO UPDATE SET is_deleted = false`,
      [group, ann],
    ],
    ['UPDATE group_members SET is_deleted = NOT is_deleted WHERE group_id = $1 AND member_id = $2', [group, ann]],
    ['DELETE FROM group_members WHERE group_id = $1 AND member_id = $2', [group, bob]],
    ['UPDATE group_members SET display_name = $3 WHERE group_id = $1 AND member_id = $2', [group, ann, `In ${count}`]],
    [
      `INSERT INTO friendships (user_id, friend_id, display_name, status) VALUES ($1, $2, $3, $4)
         ON CONFLICT (user_id, friend_id) DO UPDATE SET status = excluded.status, display_name = excluded.display_name`,
      [...pair, `Friend ${count}`, choices.oneOf([10, 11, 20, 21, 30])],
    ],
    ['DELETE FROM friendships WHERE user_id = $1 AND friend_id = $2', pair],
    [
      `INSERT INTO blacklist (user_id, friend_id) VALUES ($1, $2)
         ON CONFLICT (user_id, friend_id) DO UPDATE SET status = NOT blacklist.status`,
      pair,
    ],
    ['DELETE FROM blacklist WHERE user_id = $1 AND friend_id = $2', pair],
  ]);
}

/** Adds the functions that other services call where users are on several servers; on one, triggers do it. */
function withFunctions([sql, values]: Statement, { people }: World): Statement[] {
  if (otherServers().length === 0) return [[sql, values]];
  const [id] = values;
  if (sql.startsWith('UPDATE users'))
    return [
      [sql, values],
      ['SELECT user_renamed($1)', [id]],
    ];
  const written = people.map((person) => person.id).filter((one) => values.includes(one));
  return [
    ['SELECT is_any_closed(VARIADIC $1::text[])', [written]],
    [sql, values],
  ];
}

describe('clients that apply the answers of sync', () => {
  let app: TestApp;
  let readers: SignedInPerson[];
  let world: World;

  beforeAll(async () => {
    app = await startApp();
    readers = await Promise.all(Array.from({ length: READERS }, () => insertAndSignIn(app)));
    const people = [await insertPerson(app), ...readers, await insertPerson(app), await insertPerson(app)] as const;
    world = { people: [...people], groups: ['red', 'green', 'blue', 'black', 'white'] };
    for (const group of world.groups) await insertGroup(app, group, world.people.slice(0, 5));
  });

  afterAll(() => app.close());

  it('end with what a full sync returns, for any writers and any order in which transactions commit', async () => {
    // Until a time and a number of writes: a busy machine writes little in seconds.
    let left = WRITERS;
    const begun = Date.now();
    const isOver = (written: number) => Date.now() - begun >= RUN_MS && written > LEAST_WRITES;
    const clients = await Promise.all(
      readers.map(async (reader, index) => {
        const asked = index % 2 === 0 ? NAMES : undefined;
        const store = new SyncStore(await signedInClient(app, reader), { names: asked !== undefined });
        return { reader, asked, client: foldingClientOf(reader, asked), store };
      }),
    );
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      write(new Choices(seed + index), index, isOver).finally(() => void (left -= 1)),
    );
    const reading = clients.flatMap(({ client, store }) => [
      read(
        () => client.sync(),
        () => left > 0,
      ),
      read(
        () => syncChanges(store),
        () => left > 0,
      ),
    ]);
    await Promise.all([...writers, ...reading]);

    const states = await Promise.all(
      clients.map(async ({ reader, asked, client, store }) => {
        await client.sync();
        await syncChanges(store);
        return { held: client.state(), stored: await stateOf(store), full: await fullState(reader, asked) };
      }),
    );
    for (const { held, stored, full } of states) {
      expect({ seed, state: held }).toEqual({ seed, state: full });
      expect({ seed, state: stored }).toEqual({ seed, state: full });
    }
  });

  async function read(sync: () => Promise<unknown>, goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      await sync();
      await pause(randomInt(10));
    }
  }

  /** Runs transactions of one to three writes that wait a while before they commit. One in ten rolls back. */
  async function write(choices: Choices, index: number, isOver: (written: number) => boolean): Promise<void> {
    const writer = await connectWriter(app);
    await writer.query(`SET deadlock_timeout = '20ms'`);
    let count = 0;
    while (!isOver(count)) {
      const statements = Array.from({ length: 1 + choices.numberBelow(3) }, () => {
        count += 1;
        return randomWrite(choices, world, count * WRITERS + index);
      });
      const end = choices.numberBelow(10) === 0 ? 'ROLLBACK' : 'COMMIT';
      const delay = choices.numberBelow(30);
      await transact(writer, statements, delay, end);
    }
    await writer.end();
  }

  async function transact(writer: Client, statements: Statement[], delay: number, end: string): Promise<void> {
    await writer.query('BEGIN');
    try {
      for (const statement of statements)
        for (const [sql, values] of withFunctions(statement, world)) await writer.query(sql, values);
      await pause(delay);
      await writer.query(end);
    } catch (error) {
      // If two wait for each other, PostgreSQL rolls one back, which is another way for a transaction to end.
      if (codeOf(error) !== DEADLOCK) throw error;
      await writer.query('ROLLBACK');
    }
  }
});
