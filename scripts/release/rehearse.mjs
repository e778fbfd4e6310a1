// npm run release -- --rehearse: makes in .cache/release what a release publishes, and tries each as a stranger would.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../launch/dependencies.mjs';
import { packService } from './service-package.mjs';

const MIB = 1_024 * 1_024;
const QINIU = {
  STORAGE_PROVIDER: 'qiniu',
  QINIU_ACCESS_KEY: 'key',
  QINIU_SECRET_KEY: 'key',
  QINIU_BUCKET: 'images',
  QINIU_DOMAIN: 'https://images.example',
};
const SETUP = [
  'DOMAIN=accounts.example',
  'DATABASE_URL=postgresql://me@127.0.0.1:1/accounts',
  `TWILIO_ACCOUNT_SID=AC${'0'.repeat(32)}`,
  `TWILIO_AUTH_TOKEN=${'0'.repeat(32)}`,
  'TWILIO_FROM=+15005550006',
  'SEND_CODE_PER_DAY=100',
];

/** Makes the tarballs of the service and of the client, tries them, and prints where they would go. */
export async function rehearse() {
  const folder = join(root, '.cache', 'release');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run('scripts/release/build.mjs');
  const service = packService(folder);
  await tryService(service);
  run('scripts/check/client-check.mjs', folder);
  const files = readdirSync(folder).map((name) => join(folder, name));
  const lines = files.map((file) => `  npm publish .cache/release/${basename(file)}   (${sizeOf(file)})`);
  process.stdout.write(`\nA release would publish:\n${lines.join('\n')}\n`);
}

/** Installs the package in an empty folder, without a clone, and runs its words there. */
async function tryService(packed) {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-package-'));
  const env = environment({ PORT: '0', DATA_DIR: 'data' });
  // As npx does, but a signal reaches the service and not a shell in between.
  const command = join(folder, 'node_modules', '.bin', 'user-account-service');
  const answer = (words, more = {}) => {
    const options = { cwd: folder, env: { ...env, ...more }, encoding: 'utf8' };
    const { status, stdout, stderr } = spawnSync(command, words, options);
    return { status, told: stdout, refused: stderr };
  };
  let service;
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    // Without scripts: the embedded PostgreSQL and all else has to do without them. npm keeps this machine's own settings.
    execFileSync('npm', ['install', '--silent', '--ignore-scripts', '--prefer-offline', packed], {
      cwd: folder,
      stdio: 'inherit',
    });
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.deepEqual(answer(['--version']), { status: 0, told: `${version}\n`, refused: '' });
    assert.match(answer(['--help']).told, /^ +migrate +brings the schema/m);
    assert.match(answer(['settings']).told, /^DATABASE_URL=/m);
    assert.match(answer(['serve']).refused, /^serve is not one of its words: .* --help lists them\n$/);
    assert.match(answer([], { PORT: 'x' }).refused, /^Cannot start: one setting is wrong.*\n +PORT: /);
    assert.match(answer(['migrate']).refused, /^Cannot migrate: there is no database: set DATABASE_URL, or /);
    assert.match(answer([], QINIU).refused, /npm install qiniu/);

    service = spawn(command, { cwd: folder, env });
    const url = await readyAt(service);
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    const page = await fetch(`${url}/docs`);
    assert.match(await page.text(), /<title>/);
    assert.match(answer(['migrate']).told, /^The schema is up to date\.$/m);
    assert.match(answer(['doctor']).told, /^ +database version +ok$/m);
    assert.match(answer(['admin', 'why', '+447911123456']).told, /^ +account +none$/m);
    assert.equal(answer(['setup', ...SETUP]).status, 0);
    assert.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600);
    assert.match(answer([], { DATABASE_WAIT_SECONDS: '0' }).refused, /"msg":"Cannot start: the database at /);
  } finally {
    service?.kill('SIGTERM');
    if (service) await new Promise((resolve) => service.once('exit', resolve));
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write('the packed service is good\n');
}

/** Variables of a stranger: none of npm's about this repository, and no settings. */
function environment(more) {
  const kept = ['PATH', 'HOME', 'USER', 'LANG'];
  return {
    ...Object.fromEntries(kept.filter((name) => process.env[name]).map((name) => [name, process.env[name]])),
    ...more,
  };
}

async function readyAt(service) {
  const lines = [];
  for await (const line of createInterface({ input: service.stdout })) {
    lines.push(line);
    const [, url] = /is ready at (\S+)/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error(`the package does not start: ${lines.join('\n')}`);
}

function sizeOf(file) {
  return `${(statSync(file).size / MIB).toFixed(1)} MB`;
}

function run(file, ...words) {
  execFileSync(process.execPath, [join(root, file), ...words], { cwd: root, stdio: 'inherit' });
}
