import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Linter } from 'eslint';
import { ROOT } from '../support/service-process';

const known = new Map<string, Linter.RulesRecord>();

/** Returns the rules for a file. Running all of them would check the types of the whole tree each time. */
function rulesFor(file: string): Linter.RulesRecord {
  const rules = known.get(file) ?? shownRules(file);
  known.set(file, rules);
  return rules;
}

function shownRules(file: string): Linter.RulesRecord {
  const eslint = join(ROOT, 'node_modules/eslint/bin/eslint.js');
  const shown = spawnSync(process.execPath, [eslint, '--print-config', file], { cwd: ROOT, encoding: 'utf8' });
  return (JSON.parse(shown.stdout) as { rules: Linter.RulesRecord }).rules;
}

/** Returns what one rule reports for a source text placed in this file. */
function complaints(file: string, rule: string, source: string): Linter.LintMessage[] {
  return new Linter().verify(source, { rules: { [rule]: rulesFor(file)[rule] ?? 'off' } });
}

describe('the linter', () => {
  it.each(['src/start/keys.ts', 'src/server.ts', 'src/features/verification/verification-code.ts'])(
    'refuses Math.random in %s',
    (file) => {
      expect(complaints(file, 'no-restricted-properties', 'export const code = Math.random();')).toMatchObject([
        { severity: 2, message: expect.stringContaining("'Math.random' is restricted") as string },
      ]);
    },
  );

  it.each([
    'db.raw(`SELECT * FROM users WHERE nickname = ${nickname}`)',
    "db.raw('SELECT * FROM users WHERE nickname = ' + nickname)",
    'db("session").whereRaw(`${OWNER} = ${ownerOf(request)}`)',
    'export const find = (name) => statement("find", `SELECT * FROM users WHERE nickname = ${name}`)',
  ])('refuses a value inside the text of a statement: %s', (source) => {
    const file = 'src/features/users/users-repository.ts';
    expect(complaints(file, 'no-restricted-syntax', source)).toMatchObject([{ severity: 2 }]);
  });

  it.each(['db("session").whereRaw(`${OWNER} = ? AND true`, [userId])', 'const find = statement("find", `${NAMES}`)'])(
    'accepts a statement whose parts are constants: %s',
    (source) => {
      expect(complaints('src/features/users/users-repository.ts', 'no-restricted-syntax', source)).toEqual([]);
    },
  );

  it.each([
    'new BroadcastChannel("tabs")',
    'window.addEventListener("online", sync)',
    'document.visibilityState',
    'indexedDB.open("values")',
    'navigator.locks.request("sync", job)',
    'new TextDecoder("utf-8")',
    'crypto.randomUUID()',
  ])('refuses a global that React Native does not have, in the client: %s', (source) => {
    const file = 'packages/client/src/sync/store.ts';
    expect(complaints(file, 'no-restricted-globals', source)).toMatchObject([
      { severity: 2, message: expect.stringContaining('React Native has none') as string },
    ]);
  });

  it.each(['new URL(text).host', 'const { pathname } = url', 'URL.canParse(text)', 'AbortSignal.timeout(1000)'])(
    "refuses a member that React Native's classes do not have, in the client: %s",
    (source) => {
      const file = 'packages/client/src/base-url.ts';
      expect(complaints(file, 'no-restricted-properties', source)).toMatchObject([
        { severity: 2, message: expect.stringContaining('React Native') as string },
      ]);
    },
  );

  it.each([
    ['no-restricted-globals', 'sync/store.ts', 'const { document } = globalThis'],
    ['no-restricted-globals', 'base-url.ts', 'new URL(text).href'],
    ['no-restricted-properties', 'base-url.ts', 'new URL(text).href'],
    ['no-restricted-properties', 'cookie-jar.ts', 'headers.getSetCookie()'],
  ])('accepts in the client what is tested for first, or is for Node (%s, %s)', (rule, file, source) => {
    expect(complaints(`packages/client/src/${file}`, rule, source)).toEqual([]);
  });
});
