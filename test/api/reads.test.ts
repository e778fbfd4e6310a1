import { Client } from 'pg';
import { connect, connectionOptions } from '../../src/database';
import { Reads } from '../../src/reads';
import { startApp, type TestApp } from '../support/app';
import { expectBody, expectRefusal, post, times } from '../support/calls';
import { insertAndSignIn } from '../support/people';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

/** The service's connections that answer to nobody's transaction. */
async function kill(databaseUrl: string): Promise<void> {
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
}

describe('reads on shared connections', () => {
  it('answer each its own, however many are asked at once', async () => {
    const db = connect(app.databaseUrl, 1);
    const reads = new Reads(connectionOptions(app.databaseUrl), 2, true, () => undefined);
    const echo = reads.prepare<{ text: string }, 'text'>('echo', db.raw('SELECT ?::text AS text', [':text']));
    const answers = await times(500, (index) => echo({ text: `text ${index}` }));
    expect(answers.map(([row]) => row?.text)).toEqual(Array.from({ length: 500 }, (_, index) => `text ${index}`));
    await reads.close();
    await db.destroy();
  });

  it('fail one by one: a wrong value is the fault of who gave it', async () => {
    const db = connect(app.databaseUrl, 1);
    const reads = new Reads(connectionOptions(app.databaseUrl), 1, true, () => undefined);
    const number = reads.prepare<{ n: number }, 'n'>('number', db.raw('SELECT ?::integer AS n', [':n']));
    const answers = await Promise.allSettled(['1', 'x', '3'].map((n) => number({ n })));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await reads.close();
    await db.destroy();
  });

  it('open new connections after these have broken, with at most one 503 for those under way', async () => {
    const { agent, id } = await insertAndSignIn(app);
    expect((await post(agent, `/user/${id}`)).status).toBe(200);
    await kill(app.databaseUrl);
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let count = 0; count < 4; count += 1) expect((await post(agent, `/user/${id}`)).status).toBe(200);
  });

  it('do without prepared statements where DATABASE_PREPARE is off, as an older PgBouncer wants it', async () => {
    const plain = await startApp({ DATABASE_PREPARE: 'off' }, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
    const { agent, id } = await insertAndSignIn(plain, 'Bob');
    expectBody(await post(agent, `/user/${id}`), { code: 200, result: { id, nickname: 'Bob', portraitUri: '' } });
    expect((await post(agent, '/user/sync/0')).status).toBe(200);
    expectRefusal(await post(agent, '/user/nobody'), 404);
    await plain.close();
  });
});
