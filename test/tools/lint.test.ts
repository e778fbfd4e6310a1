import { execFileSync } from 'node:child_process';
import { Linter } from 'eslint';
import { ROOT } from '../support/service-process';

const DRAWING = ['src/start/keys.ts', 'src/server.ts', 'src/features/verification/verification-code.ts'] as const;
const SQL = 'src/features/users/users-repository.ts';
const STORE = 'packages/client/src/sync/store.ts';
const BASE_URL = 'packages/client/src/base-url.ts';
const COOKIE_JAR = 'packages/client/src/cookie-jar.ts';
const SETTINGS = 'src/integrations/senders/twilio/settings.ts';
const TEST = 'test/unit/passwords.test.ts';
const FILES = [...DRAWING, SQL, STORE, BASE_URL, COOKIE_JAR, SETTINGS, TEST] as const;
type File = (typeof FILES)[number];

const rules = rulesOfFiles();

/** Runs Node, since Jest cannot load the ES modules. Running all rules would check the types of the whole tree. */
function rulesOfFiles(): Record<File, Linter.RulesRecord> {
  const program = `
    const eslint = new (require('eslint').ESLint)();
    const rulesOf = async (file) => [file, (await eslint.calculateConfigForFile(file)).rules];
    const all = Promise.all(${JSON.stringify(FILES)}.map(rulesOf));
    all.then((rules) => console.log(JSON.stringify(Object.fromEntries(rules))));`;
  const shown = execFileSync(process.execPath, ['-e', program], { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(shown) as Record<File, Linter.RulesRecord>;
}

/** Returns what one rule reports for a source text placed in this file. */
function complaints(file: File, rule: string, source: string): Linter.LintMessage[] {
  return new Linter().verify(source, { rules: { [rule]: rules[file][rule] ?? 'off' } });
}

describe('the linter', () => {
  // guard lint-2: nothing in src is drawn by Math.random
  // eslint.config.mjs
  // -       'no-restricted-properties': ['error', GUESSABLE],
  // -       'no-restricted-syntax'
  // + 'no-restricted-syntax'
  it.each(DRAWING)('refuses Math.random in %s', (file) => {
    expect(complaints(file, 'no-restricted-properties', 'export const code = Math.random();')).toMatchObject([
      { severity: 2, message: expect.stringContaining("'Math.random' is restricted") as string },
    ]);
  });

  // guard lint-1: no value is written into the text of a statement
  // eslint.config.mjs
  // - ['error', ...WRITTEN_INTO_SQL, ...STATE]
  // + ['error', ...STATE]
  it.each([
    'db.raw(`SELECT * FROM users WHERE nickname = ${nickname}`)',
    "db.raw('SELECT * FROM users WHERE nickname = ' + nickname)",
    'db("session").whereRaw(`${OWNER} = ${ownerOf(request)}`)',
    'export const find = (name) => statement("find", `SELECT * FROM users WHERE nickname = ${name}`)',
  ])('refuses a value inside the text of a statement: %s', (source) => {
    expect(complaints(SQL, 'no-restricted-syntax', source)).toMatchObject([{ severity: 2 }]);
  });

  it.each(['db("session").whereRaw(`${OWNER} = ? AND true`, [userId])', 'const find = statement("find", `${NAMES}`)'])(
    'accepts a statement whose parts are constants: %s',
    (source) => {
      expect(complaints(SQL, 'no-restricted-syntax', source)).toEqual([]);
    },
  );

  // guard lint-5: a module of src keeps no state, which tests would share
  // eslint.config.mjs
  // - ['error', ...WRITTEN_INTO_SQL, ...STATE]
  // + ['error', ...WRITTEN_INTO_SQL]
  it.each([
    'let count = 0; count += 1;',
    'export let count = 0;',
    'const seen = new Set();',
    'export const names = new Map();',
    'export const names = [];',
  ])('refuses state of a module: %s', (source) => {
    expect(complaints(SQL, 'no-restricted-syntax', source)).toMatchObject([
      { severity: 2, message: expect.stringContaining('keeps no state') as string },
    ]);
  });

  it.each([
    'const NAMES = new Set(["ann"]);',
    'export const list = () => { let count = 0; return [new Map(), count]; };',
  ])('accepts a constant, and state of a function: %s', (source) => {
    expect(complaints(SQL, 'no-restricted-syntax', source)).toEqual([]);
  });

  // guard lint-6: the settings of a vendor load nothing of its code, since each start loads them
  // eslint.config.mjs
  // - regex: '^(?!zod$|
  // + regex: '^(?!twilio$|zod$|
  it('refuses to load the code of a vendor with its settings', () => {
    const loading = (from: string) => complaints(SETTINGS, 'no-restricted-imports', `import twilio from '${from}';`);
    expect(['twilio', '../sender', './sender', '../../../http/parse'].map((from) => loading(from).length)).toEqual([
      1, 1, 1, 1,
    ]);
    expect(['zod', 'node:path', '../../../base/settings', '../twilio/settings'].flatMap(loading)).toEqual([]);
  });

  it('refuses jest.mock, which does nothing to shared modules', () => {
    expect(complaints(TEST, 'no-restricted-properties', `jest.mock('bcrypt', () => ({}));`)).toMatchObject([
      { severity: 2, message: expect.stringContaining('modules are shared') as string },
    ]);
  });

  // guard lint-3: the client uses no global that React Native does not have
  // eslint.config.mjs
  // - ...NOT_IN_REACT_NATIVE.map((name) => ({
  // + ...[].map((name) => ({
  it.each([
    'new BroadcastChannel("tabs")',
    'window.addEventListener("online", sync)',
    'document.visibilityState',
    'indexedDB.open("values")',
    'navigator.locks.request("sync", job)',
    'new TextDecoder("utf-8")',
    'crypto.randomUUID()',
  ])('refuses a global that React Native does not have, in the client: %s', (source) => {
    expect(complaints(STORE, 'no-restricted-globals', source)).toMatchObject([
      { severity: 2, message: expect.stringContaining('React Native has none') as string },
    ]);
  });

  // guard lint-4: the client uses no member that React Native does not have
  // eslint.config.mjs
  // - rules: { 'no-restricted-properties': ['error', ...MEMBERS_NOT_IN_REACT_NATIVE] },
  it.each(['new URL(text).host', 'const { pathname } = url', 'URL.canParse(text)', 'AbortSignal.timeout(1000)'])(
    "refuses a member that React Native's classes do not have, in the client: %s",
    (source) => {
      expect(complaints(BASE_URL, 'no-restricted-properties', source)).toMatchObject([
        { severity: 2, message: expect.stringContaining('React Native') as string },
      ]);
    },
  );

  it.each<[string, File, string]>([
    ['no-restricted-globals', STORE, 'const { document } = globalThis'],
    ['no-restricted-globals', BASE_URL, 'new URL(text).href'],
    ['no-restricted-properties', BASE_URL, 'new URL(text).href'],
    ['no-restricted-properties', COOKIE_JAR, 'headers.getSetCookie()'],
  ])('accepts in the client what is tested for first, or is for Node (%s, %s)', (rule, file, source) => {
    expect(complaints(file, rule, source)).toEqual([]);
  });
});
