import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Client } from 'pg';
import { startApp, type TestApp } from '../support/app';
import { counted, expectBody, expectRefusal, post, retryAfter, times, type Answer } from '../support/calls';
import { insertAndSignIn } from '../support/people';
import { cookieFor, open } from '../support/streams';
import { connectWriter } from '../support/sync';
import { until } from '../support/until';

const AT_ONCE = 2;
const WAITING = 8;
const NOT_TAKEN = 12;
/** Before anybody who waits for a lock gives up. */
const SOON_MS = 900;

/** Each with a table that it reads, and nothing else of the request does. */
const READS = [
  ['/user/groups', 'groups'],
  ['/user/blacklist', 'blacklist'],
  ['/user/sync/0', 'friendships'],
] as const;

describe('what a user has much of', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  let writer: Client;
  beforeEach(async () => {
    writer = await connectWriter(app);
  });
  afterEach(() => writer.end());

  it.each(READS)(
    '%s is read twice at once for one user, and waited for eight times: 429 beyond',
    async (path, table) => {
      const ann = await insertAndSignIn(app);
      const bob = await insertAndSignIn(app);
      const answers: Answer[] = [];
      const ask = async () => answers.push(await post(ann.agent, path));
      const { busy, release } = await locked(table);
      const asked = times(3 * (AT_ONCE + WAITING), ask);
      await until(() => answers.length >= 2 * (AT_ONCE + WAITING), SOON_MS);
      await until(async () => (await busy()) === AT_ONCE, SOON_MS);
      const before = { refused: answers.length, busy: await busy() };
      const his = times(AT_ONCE, () => post(bob.agent, path));
      await release();
      await asked;

      expect(before).toEqual({ refused: 2 * (AT_ONCE + WAITING), busy: AT_ONCE });
      expect(counted(answers)).toEqual({ 200: AT_ONCE + WAITING, 429: 2 * (AT_ONCE + WAITING) });
      for (const refused of answers.slice(0, before.refused)) {
        expectRefusal(refused, 429);
        expect(retryAfter(refused)).toBeGreaterThan(0);
      }
      expect(counted(await his)).toEqual({ 200: AT_ONCE });
    },
  );

  it('counts all of these together, and nothing else of the user', async () => {
    const { agent, id } = await insertAndSignIn(app);
    const { release } = await locked('friendships', 'groups', 'blacklist');
    const answers: Answer[] = [];
    const asked = times(15, async (index) => answers.push(await post(agent, READS[index % 3]?.[0] ?? '')));
    await until(() => answers.length >= 5, SOON_MS);
    expectBody(await post(agent, `/user/set_nickname`, { nickname: 'Ann' }), { code: 200 });
    expect((await post(agent, `/user/${id}`)).status).toBe(200);
    await release();
    await asked;
    expect(counted(answers)).toEqual({ 200: AT_ONCE + WAITING, 429: 5 });
  });

  it('counts an answer until the client has taken it', async () => {
    const { agent, id, ...ann } = await insertAndSignIn(app);
    const cookie = await cookieFor(app, { id, ...ann });
    await insertLargeGroups(id);
    const unread: IncomingMessage[] = [];
    while (unread.length < NOT_TAKEN) unread.push(await open(app, '/user/groups', cookie));
    expect(unread.map(({ statusCode }) => statusCode)).toEqual(Array(NOT_TAKEN).fill(200));
    for (const [path] of READS) expect((await post(agent, path)).status).toBe(429);
    const bob = await insertAndSignIn(app);
    for (const [path] of READS) expect((await post(bob.agent, path)).status).toBe(200);

    const [read, left, ...others] = unread;
    expect(read && JSON.parse(await text(read))).toMatchObject({ code: 200 });
    left?.destroy();
    await until(async () => (await post(agent, '/user/blacklist')).status === 200);
    for (const answer of others) answer.destroy();
  });

  /** Their list is far more than the sockets hold. */
  async function insertLargeGroups(memberId: string): Promise<void> {
    await app.db.raw(
      `INSERT INTO groups (id, name, creator_id)
         SELECT 'large' || n, repeat('x', 50000), ? FROM generate_series(1, 200) n`,
      [memberId],
    );
    await app.db.raw(
      `INSERT INTO group_members (group_id, member_id) SELECT 'large' || n, ? FROM generate_series(1, 200) n`,
      [memberId],
    );
  }

  /** Locked for others, until it is released. */
  async function locked(...tables: string[]) {
    await writer.query(`BEGIN; LOCK TABLE ${tables.join(', ')}`);
    return {
      /** Statements that wait for the lock. */
      busy: async () => {
        const { rows } = await writer.query<{ waiting: number }>(
          `SELECT count(*)::integer AS waiting FROM pg_locks
            WHERE relation = ANY ($1::regclass[]) AND NOT granted`,
          [tables],
        );
        return rows[0]?.waiting ?? 0;
      },
      release: () => writer.query('ROLLBACK'),
    };
  }
});
