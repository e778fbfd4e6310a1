import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { ROOT } from '../support/service-process';

/** Stands for a release that npm's registry has. */
const NEWER = '26.0.0';

let folder: string;
let registry: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'old-node-'));
  mkdirSync(join(folder, 'scripts/node'), { recursive: true });
  for (const name of ['run', 'node', 'npm-ci', 'dependencies'])
    cpSync(join(ROOT, `scripts/launch/${name}.mjs`), join(folder, `scripts/launch/${name}.mjs`));
  writeFileSync(join(folder, 'scripts/launch/install-scripts.mjs'), 'export const runInstallScripts = () => true;');
  writeFileSync(join(folder, 'package-lock.json'), '{ "packages": {} }');
  writeJson('scripts/node/package.json', { name: 'node', version: '1.0.0', optionalDependencies: { newer: NEWER } });
  // Makes this Node call itself an old one; the newer one, which has another name, stays as it is.
  writeFileSync(
    join(folder, 'old.cjs'),
    `if (!process.argv0.includes('newer')) Object.defineProperty(process.versions, 'node', { value: '20.20.2' });`,
  );
});

afterEach(() => {
  registry?.close();
  registry = undefined;
  rmSync(folder, { recursive: true });
});

function writeJson(name: string, value: object): void {
  writeFileSync(join(folder, name), JSON.stringify(value));
}

/** A package whose `node` is this one under another name, as npm would install it. */
function packNewer(): { tarball: Buffer; integrity: string } {
  const source = join(folder, 'source');
  mkdirSync(join(source, 'bin'), { recursive: true });
  writeFileSync(
    join(source, 'package.json'),
    JSON.stringify({ name: 'newer', version: NEWER, bin: { node: 'bin/node' } }),
  );
  const script = `#!/usr/bin/env bash
if [ "$1" = --version ]; then echo v${NEWER}; exit; fi
exec -a newer-node ${process.execPath} "$@"
`;
  writeFileSync(join(source, 'bin/node'), script);
  chmodSync(join(source, 'bin/node'), 0o755);
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: source, stdio: 'ignore' });
  const tarball = readFileSync(join(folder, `newer-${NEWER}.tgz`));
  return { tarball, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` };
}

/** npm's registry, as far as `npm ci` asks it, and a lock file that names the hash. */
async function serve(tarball: Buffer, integrity: string): Promise<string> {
  const server = createServer((req, res) => {
    const url = `${addressOf(server)}/newer.tgz`;
    const version = { name: 'newer', version: NEWER, bin: { node: 'bin/node' }, dist: { tarball: url } };
    if (req.url?.endsWith('.tgz')) res.end(tarball);
    else res.end(JSON.stringify({ name: 'newer', 'dist-tags': { latest: NEWER }, versions: { [NEWER]: version } }));
  }).listen(0, '127.0.0.1');
  await once((registry = server), 'listening');
  const own = { name: 'node', version: '1.0.0', optionalDependencies: { newer: NEWER } };
  const newer = { version: NEWER, integrity, optional: true, bin: { node: 'bin/node' } };
  const packages = { '': own, 'node_modules/newer': newer };
  writeJson('scripts/node/package-lock.json', { ...own, lockfileVersion: 3, requires: true, packages });
  return addressOf(server);
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function begin(program: string, address = 'http://127.0.0.1:1') {
  writeFileSync(join(folder, 'program.mjs'), program);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    NODE_OPTIONS: `--require ${join(folder, 'old.cjs')}`,
    npm_config_registry: address,
    npm_config_fetch_retries: '0',
  };
  const child = spawn(process.execPath, ['scripts/launch/run.mjs', 'program.mjs', 'a', 'b c'], { cwd: folder, env });
  const told = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (data) => (told[name] += String(data)));
  return { child, told, ended: once(child, 'close') };
}

describe('a command on a Node that is too old', () => {
  it('fetches a newer Node once, and ends as the program ends there', async () => {
    const { tarball, integrity } = packNewer();
    const address = await serve(tarball, integrity);
    const program = 'console.log(process.argv0, ...process.argv.slice(2)); process.exit(3);';
    const first = begin(program, address);
    expect(await first.ended).toEqual([3, null]);
    expect(first.told.stdout).toBe('newer-node a b c\n');
    expect(first.told.stderr).toMatch(/^Node 20\.20\.2 is past its end of life\. Fetching Node 26\.0\.0 .*\n$/);

    registry?.close();
    const second = begin(program);
    expect(await second.ended).toEqual([3, null]);
    expect(second.told.stderr).toBe('');
  });

  it('hands signals on, and ends with the program', async () => {
    const { tarball, integrity } = packNewer();
    const program = `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('waits');`;
    const { child, ended } = begin(program, await serve(tarball, integrity));
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await ended).toEqual([7, null]);
  });

  it('refuses a package whose hash is not that of the lock file, and says what to install', async () => {
    const { tarball } = packNewer();
    const wrong = createHash('sha512').update('another').digest('base64');
    const { ended, told } = begin('console.log(1);', await serve(tarball, `sha512-${wrong}`));
    expect(await ended).toEqual([1, null]);
    expect(told.stdout).toBe('');
    expect(told.stderr).toMatch(/Node 22\.18 or newer is needed, and Node 26\.0\.0 could not be fetched .*nvm install/);
  });

  it('says what to install when there is no network', async () => {
    await serve(Buffer.alloc(0), 'sha512-AAAA');
    registry?.close();
    const { ended, told } = begin('console.log(1);');
    expect(await ended).toEqual([1, null]);
    expect(told.stderr).toMatch(/could not be fetched .* https:\/\/nodejs\.org has all of them\n$/);
  });

  it('runs in the first process when its Node is new enough', () => {
    writeFileSync(join(folder, 'program.mjs'), 'console.log(process.ppid);');
    const { stdout } = spawnSync(process.execPath, ['scripts/launch/run.mjs', 'program.mjs'], { cwd: folder });
    expect(stdout.toString()).toBe(`${process.pid}\n`);
  });
});

it('prints what goes before PATH for scripts of the shell', () => {
  const bin = join(folder, 'scripts/node/node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  writeJson('scripts/node/package.json', { optionalDependencies: { newer: process.versions.node } });
  symlinkSync(process.execPath, join(bin, 'node'));
  const old = ['--require', join(folder, 'old.cjs'), 'scripts/launch/node.mjs'];
  expect(spawnSync(process.execPath, old, { cwd: folder }).stdout.toString()).toBe(`${bin}:`);
  expect(spawnSync(process.execPath, ['scripts/launch/node.mjs'], { cwd: folder }).stdout.toString()).toBe('');
});
