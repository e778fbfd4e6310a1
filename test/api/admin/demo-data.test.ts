import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { addDemoData } from '../../../src/admin/demo-data';
import { emptyDatabase } from '../../support/database';
import type { SyncResult } from '../../support/folding-client';
import { e164, expectOk, insertAndSignIn, insertPerson } from '../../support/people';
import { productionEnv } from '../../support/production';
import { ROOT, RUN } from '../../support/service-process';
import { stage } from '../../support/stage';
import { isEmpty, settledClient, sync } from '../../support/sync';

describe('npm run demo-data', () => {
  const { app, ann } = stage({ people: 1, eachTest: true });

  const here = () => ({ DATABASE_URL: app.databaseUrl, DATA_DIR: app.dataDir });

  it('gives an account friends, requests of each kind, and groups to try the operations on', async () => {
    const bob = await insertAndSignIn(app, 'Bob');
    expect(await addDemoData(app.serviceDb)).toBe(2);
    for (const person of [ann, bob]) expectCompany(await sync(person));
    const { result } = await expectOk(ann.agent.post('/user/groups'));
    expect(result).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'Hikers', memberCount: 9 })]));
  });

  it('changes nothing when it is run again, except for users who have registered since', async () => {
    await addDemoData(app.serviceDb);
    const client = await settledClient(ann);
    await addDemoData(app.serviceDb);
    expect(isEmpty(await client.sync())).toBe(true);
    const bob = await insertAndSignIn(app, 'Bob');
    expect(isEmpty(await sync(bob))).toBe(true);
    await addDemoData(app.serviceDb);
    expectCompany(await sync(bob));
  });

  it('makes demo users who know each other and can log in with the printed password', async () => {
    await app.db('users').where({ id: ann.id }).update({ closed_at: app.db.fn.now() });
    const { stdout } = await run(here());
    const [, phone = '', password = ''] = /phones \+44(\d+) to .* password (\w+), /m.exec(stdout) ?? [];
    expect(stdout).toContain('Once you have registered, run this again.');
    const agent = app.agent();
    await expectOk(agent.post('/user/login').send({ region: 44, phone, password }));
    expectCompany((await expectOk(agent.post('/user/sync/0'))).result as SyncResult);
  });

  it('gives data only to the account of one phone if that is named', async () => {
    const bob = await insertAndSignIn(app, 'Bob');
    const { stdout, code } = await run(here(), [e164(ann)]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('with 1 other account.') as string });
    expectCompany(await sync(ann));
    expect(isEmpty(await sync(bob))).toBe(true);
    const cat = await insertPerson(app, 'Cat');
    await app.db('phones').where({ user_id: cat.id }).delete();
    await expect(addDemoData(app.serviceDb, e164(cat))).rejects.toThrow('has no account yet');
  });

  it('says in one line what is wrong, and does nothing', async () => {
    const database = await emptyDatabase();
    const [production, none, nobody, empty, usage] = await Promise.all([
      run({ ...productionEnv(), ...here() }),
      run({ DATABASE_URL: '', DATA_DIR: join(ROOT, 'no-such-folder') }),
      run({ ...here(), DATABASE_URL: 'postgresql://localhost:1/accounts' }),
      run({ ...here(), DATABASE_URL: database.url }),
      run(here(), ['44']),
    ]);
    await database.drop();
    for (const { code, stdout } of [production, none, empty, usage])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(nobody).toMatchObject({ code: 2, stdout: '' });
    expect(production.stderr).toMatch(/^demo is for development, and NODE_ENV is production\n$/);
    expect(none.stderr).toMatch(/^there is no database: set DATABASE_URL, or run npm start.*\n$/);
    expect(nobody.stderr).toMatch(/^the database at localhost:1\/accounts cannot be used: .*\n$/);
    expect(empty.stderr).toMatch(/^the database lacks migrations: run npm run migrate\n$/);
    expect(usage.stderr).toMatch(/^44: is not a phone number: .*\n$/);
    expect(await app.db('users').pluck('id')).toEqual([ann.id]);
  });
});

function expectCompany({ friends, groups, group_members }: SyncResult): void {
  expect(new Set(friends.map(({ status }) => status))).toEqual(new Set([10, 11, 20, 21]));
  expect(groups.length).toBeGreaterThan(0);
  expect(new Set(group_members.map(({ role }) => role))).toEqual(new Set([0, 1, 2]));
  for (const { user } of group_members) expect(user.nickname).not.toBe('');
}

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function run(env: Record<string, string>, args: string[] = []): Promise<Run> {
  const options = { cwd: ROOT, env: { PATH: process.env.PATH, NODE_ENV: 'development', ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [RUN, 'scripts/operate/admin.ts', 'demo', ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}
