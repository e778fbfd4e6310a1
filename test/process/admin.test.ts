import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cloneDatabase, type TestDatabase } from '../support/database';
import { OUTPUT } from '../support/paths';
import { ROOT } from '../support/service-process';

let database: TestDatabase;

beforeAll(async () => {
  database = await cloneDatabase();
});

afterAll(async () => {
  await database.drop();
});

function admin(words: string[], databaseUrl = database.serviceUrl) {
  const args = [join(ROOT, 'scripts/run.mjs'), 'scripts/admin.ts', ...words];
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(OUTPUT, 'admin'),
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('npm run admin', () => {
  it('answers as a text, or as JSON', () => {
    expect(admin(['db', 'status'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^database\n {2}version/) as string,
    });
    const { stdout } = admin(['--json', 'spend', 'today']);
    expect(JSON.parse(stdout)).toMatchObject({ codes: [] });
  });

  it('lists its commands', () => {
    expect(admin(['--help']).stdout).toMatch(/why .* tells why a number gets no code/);
  });

  it.each([
    ['an unknown command', ['unknown'], /^error: unknown command 'unknown'/],
    ['a word that is missing', ['why'], /^error: missing required argument 'phone'/],
    ['a number that is none', ['why', '0791'], /^0791: is not a phone number: write it with \+/],
  ])('tells %s in one line, and exits with 1', (_what, words, line) => {
    const { status, stderr } = admin(words);
    expect(stderr).toMatch(line);
    expect([status, stderr.trim().split('\n')]).toEqual([1, [expect.any(String)]]);
  });

  it('tells in one line that the database is away, without its password', () => {
    const { status, stderr } = admin(['db', 'status'], 'postgresql://service:hidden@127.0.0.1:1/nothing');
    expect(stderr).toMatch(/^the database at 127\.0\.0\.1:1\/nothing cannot be used: .*\n$/);
    expect([status, stderr.includes('hidden')]).toEqual([1, false]);
  });
});
