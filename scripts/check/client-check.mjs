// npm run client-check: builds and packs packages/client, and tries the packed file as an app would. It keeps the file
// in a folder that is named, for a release.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const client = join(root, 'packages', 'client');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const indexedDb = pathToFileURL(join(client, 'node_modules/fake-indexeddb/auto/index.mjs')).href;
const jest = join(root, 'node_modules/jest/bin/jest.js');
const folder = mkdtempSync(join(tmpdir(), 'accounts-client-'));

const APP = `
import assert from 'node:assert/strict';
import { Client, indexedDbStorage, memoryStorage, SyncStore } from '@user-account-service/client';
import { useFriends } from '@user-account-service/client/react';

const client = new Client({ baseUrl: 'http://127.0.0.1:1', repeats: 0 });
const answer = await client.call('/user/groups');
assert.deepEqual([answer.ok, answer.reason], [false, 'network']);
const store = new SyncStore(client, { storage: memoryStorage() });
assert.equal((await store.sync()).reason, 'not_signed_in');
assert.deepEqual(await store.friends(), []);

// Two tabs of a browser.
await import(process.argv[2]);
const user = { id: 'ann', nickname: 'Ann', portraitUri: '', timestamp: 1 };
const friends = [{ friendId: 'bob', displayName: '', status: 20, timestamp: 1 }];
const result = { version: 7, user, blacklist: [], friends, groups: [], group_members: [] };
const texts = (async function* () { yield JSON.stringify({ code: 200, result }); })();
const source = { changesSince: async () => ({ ok: true, result: texts, requestId: undefined }) };
const [tab, other] = [1, 2].map(() => new SyncStore(source, { storage: indexedDbStorage() }));
assert.ok((await tab.sync()).ok);
assert.deepEqual([await other.version(), await other.friends()], [7, friends]);
await other.clear();
assert.deepEqual([await tab.version(), await tab.friends()], [0, []]);
`;

const TYPED_APP = `
import {
  Client,
  FriendStatus,
  GroupRole,
  SyncStore,
  type CallReason,
  type Changed,
  type ClientStorage,
  type CommonReason,
  type Failure,
  type StoreChanges,
  type StoreReason,
  type Synced,
  type SyncFriend,
  type SyncReason,
  type UploadReason,
} from '@user-account-service/client';
import { useFriends, useSession } from '@user-account-service/client/react';

const client = new Client({ baseUrl: 'https://accounts.example.com' });
const login = await client.call('/user/login', { region: 44, phone: '7911123456', password: 'opensesame' });
if (login.ok) {
  const { id, token }: { id: string; token: string } = login.result;
  await client.call('/user/{id}', { id: id + token });
} else {
  const seconds: number | undefined = login.retryAfter;
  const isWrong: boolean = login.reason === 'wrong_credentials' || login.reason === 'network';
  // @ts-expect-error: no login is refused for that
  const isOther: boolean = login.reason === 'group_full';
  void [seconds, isWrong, isOther];
}
// @ts-expect-error: there is no such operation
await client.call('/user/logins');
// @ts-expect-error: the password is missing
await client.call('/user/login', { region: 44, phone: '7911123456' });
// @ts-expect-error: the body is missing
await client.call('/user/login');
// @ts-expect-error: an image is uploaded by uploadImage
await client.call('/files');
const memberIds: readonly string[] = ['bob'];
await client.call('/group/create', { name: 'Hikers', memberIds });
void new Client({ baseUrl: 'https://accounts.example.com', captcha: undefined, storage: undefined, repeats: undefined });

// A login is made only for what wants a session.
const ofGroups: CallReason<'/user/groups'> = 'wrong_credentials';
// @ts-expect-error: nobody is signed in who asks for a code
const ofSendCode: CallReason<'/user/send_code'> = 'wrong_credentials';
// @ts-expect-error: it would be another session
const ofLogout: CallReason<'/user/logout'> = 'too_many_attempts';
void [ofGroups, ofSendCode, ofLogout];

declare function wordsOf(failure: Failure<CommonReason>): string;
/** After its own reasons only those are left that all operations have. */
function whyNoCode(failure: Failure<CallReason<'/user/verify_code'>>): string {
  switch (failure.reason) {
    case 'wrong_code':
    case 'code_expired':
    case 'guesses_spent':
    case 'too_many_verifications':
    case 'code_unchecked':
      return failure.reason;
    default:
      return wordsOf(failure);
  }
}
function whyNoUser(failure: Failure<CallReason<'/user/{id}'>>): string {
  // @ts-expect-error: no_such_user is none of all operations
  return wordsOf(failure);
}
function whyNoSync(failure: Failure<SyncReason | StoreReason>): string {
  return failure.reason === 'storage_in_use' ? '' : wordsOf(failure);
}
const ofUpload: UploadReason = 'not_an_image';
void [ofUpload, whyNoCode, whyNoUser, whyNoSync];

declare const storage: ClientStorage;
const store = new SyncStore(client, { storage });
const synced: Synced<SyncReason> = await store.sync();
const stop: () => void = store.onChange(({ friends, user, everything }: StoreChanges) => {
  const changed: Changed<SyncFriend> = friends;
  void [changed, user?.nickname, everything];
});
stop();
const shown: SyncFriend[] | undefined = useFriends(store);
const isSignedIn: boolean | undefined = useSession(client);
void [shown, isSignedIn];
if (synced.ok) {
  const friends: SyncFriend[] = synced.result.friends.put;
  const status: 10 | 11 | 20 | 21 | 30 | undefined = friends[0]?.status;
  const isAsking: boolean = status === FriendStatus.requested;
  const named: FriendStatus = FriendStatus.friends;
  const role: GroupRole = GroupRole.manager;
  // @ts-expect-error: there is no such role
  const noRole: GroupRole = 3;
  void [isAsking, named, role, noRole];
} else {
  const isBusy: boolean = synced.reason === 'storage_in_use' || synced.reason === 'not_signed_in';
  void isBusy;
}
`;

/** Like the tests of an app that does not use ES modules. */
const COMMONJS_TEST = `
const { Client } = require('@user-account-service/client');
const { useFriends } = require('@user-account-service/client/react');

it('is required by CommonJS', async () => {
  const client = new Client({ baseUrl: 'http://127.0.0.1:1', repeats: 0 });
  expect(await client.call('/user/groups')).toMatchObject({ ok: false, reason: 'network' });
  expect(useFriends).toBeInstanceOf(Function);
});
`;

/** The types of the CommonJS form. */
const COMMONJS_TYPED = `
import { Client, memoryStorage, SyncStore, type SyncFriend } from '@user-account-service/client';
import { useFriends } from '@user-account-service/client/react';

const store = new SyncStore(new Client({ baseUrl: 'https://accounts.example.com' }), { storage: memoryStorage() });
export const friends: SyncFriend[] | undefined = useFriends(store);
`;

/** A whole program imports the client itself. */
const IMPORTS_CLIENT = /^import \{.*\bClient\b.*\} from '@user-account-service\/client';$/m;

/** Names that the examples of the README use without importing them. */
const PRELUDE = `
import {
  Client,
  SyncStore,
  type ClientOptions,
  type ClientStorage,
  type SyncReason,
  type SyncUser,
} from '@user-account-service/client';

declare const client: Client;
declare const store: SyncStore<SyncReason>;
declare const storage: ClientStorage;
declare const baseUrl: string;
declare const location: { origin: string }; // a page's
declare const askTheUserForPhoneAndPassword: NonNullable<ClientOptions['credentials']>;
declare const showAndRead: (url: string) => Promise<string>;
declare const show: (page: string, user?: SyncUser) => void;
`;

try {
  if (!existsSync(join(client, 'node_modules'))) run(client, 'npm', 'ci');
  run(client, 'npm', 'run', '--silent', 'types', '--', '--check');
  rmSync(join(client, 'dist'), { recursive: true, force: true });
  run(client, 'npm', 'run', '--silent', 'build');
  run(client, 'npm', 'pack', '--silent', '--pack-destination', folder);
  const packed = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
  if (process.argv[2]) copyFileSync(packed, join(process.argv[2], basename(packed)));
  run(client, 'node_modules/.bin/publint', 'run', packed, '--strict');
  run(client, 'node_modules/.bin/attw', packed, '--no-emoji');
  run(root, process.execPath, 'scripts/check/client-sizes.mjs');
  writeApp();
  run(join(folder, 'app'), 'npm', 'install', '--silent', '--offline', packed);
  symlinkSync(join(root, 'node_modules/react'), join(folder, 'app/node_modules/react'));
  run(join(folder, 'app'), process.execPath, 'app.mjs', indexedDb);
  run(join(folder, 'app'), process.execPath, jest, '--rootDir', 'commonjs');
  tryFolder();
  // Where there is no DOM but Node, and where there is no Node but the DOM.
  for (const platform of ['node', 'browser'])
    run(join(folder, 'app'), process.execPath, join(client, 'node_modules/typescript/bin/tsc'), '-p', platform);
  process.stdout.write('the packed client is good\n');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** In place of the packed file the folder, by the command that the service's README has for those who have a clone. */
function tryFolder() {
  const [, args = ''] = /^npm (install \.\.\/user-account-service\/\S+)/m.exec(readme) ?? [];
  symlinkSync(root, join(folder, 'user-account-service'));
  mkdirSync(join(folder, 'beside'));
  write(folder, 'beside/app.mjs', APP);
  run(join(folder, 'beside'), 'npm', ...args.split(' '), '--silent', '--offline');
  run(join(folder, 'beside'), process.execPath, 'app.mjs', indexedDb);
}

function run(cwd, program, ...args) {
  execFileSync(program, args, { cwd, stdio: 'inherit' });
}

function writeApp() {
  const app = join(folder, 'app');
  mkdirSync(app);
  write(app, 'package.json', JSON.stringify({ name: 'app', private: true, type: 'module', dependencies: {} }));
  write(app, 'app.mjs', APP);
  mkdirSync(join(app, 'commonjs'));
  write(app, 'commonjs/package.json', '{ "type": "commonjs" }');
  write(app, 'commonjs/client.test.js', COMMONJS_TEST);
  mkdirSync(join(app, 'node'));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitReturns: true,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
  };
  for (const [platform, lib, types] of [
    ['node', ['es2022'], ['node']],
    ['browser', ['es2022', 'dom'], []],
  ]) {
    mkdirSync(join(app, platform), { recursive: true });
    const typeRoots = [join(root, 'node_modules', '@types')];
    write(
      app,
      `${platform}/tsconfig.json`,
      JSON.stringify({ compilerOptions: { ...compilerOptions, lib, types, typeRoots } }),
    );
    write(app, `${platform}/app.ts`, TYPED_APP);
    write(app, `${platform}/commonjs.cts`, COMMONJS_TYPED);
  }
  // The five minutes are a program of their own; what follows them are examples.
  const [first = '', second = '', ...examples] = blocksOf(readFileSync(join(client, 'README.md'), 'utf8'));
  write(app, 'node/five-minutes.ts', first + second);
  write(app, 'node/readme.ts', blocksOf(readme).join(''));
  examples.forEach((example, index) => write(app, `node/example-${index}.ts`, programOf(example)));
}

/** Puts the example into a block, so that it may use names of the prelude again. Exports cannot stand in a block. */
function programOf(example) {
  if (example.includes('\nexport ') || IMPORTS_CLIENT.test(example)) return example;
  const [, imports, rest] = /^((?:import .*\n)*)(.*)$/s.exec(example);
  return `${PRELUDE}${imports}{\n${rest}\n}\n`;
}

function blocksOf(page) {
  return page
    .split(/^```ts\n/m)
    .slice(1)
    .map((part) => part.split(/^```$/m)[0]);
}

function write(app, name, text) {
  writeFileSync(join(app, name), text);
}
