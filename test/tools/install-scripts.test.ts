import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutPackages } from '../support/paths';
import { ROOT } from '../support/service-process';

/** Each package leaves a file when its install script runs. One is on the list, two are not. */
const PACKAGES = ['allowed', 'stray-folder', 'stray-archive'];
const SCRIPT = `require('node:fs').writeFileSync(require('node:path').join(__dirname, 'ran'), '')`;

describe('npm in a project with the settings of this one', () => {
  let project: string;

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), 'accounts-scripts-'));
    for (const name of ['.npmrc', 'scripts'])
      cpSync(join(ROOT, name), join(project, name), { recursive: true, filter: withoutPackages });
    for (const name of PACKAGES) makePackage(name);
    npm('pack', './stray-archive');
    const { allowScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { allowScripts: object };
    write('package.json', {
      name: 'project',
      version: '1.0.0',
      allowScripts: { ...allowScripts, allowed: true },
      dependencies: {
        allowed: 'file:allowed',
        'stray-folder': 'file:stray-folder',
        'stray-archive': 'file:stray-archive-1.0.0.tgz',
      },
    });
    npm('install', '--package-lock-only');
  });

  afterEach(() => rmSync(project, { recursive: true, force: true }));

  // guard install-scripts-1: an installed package runs no script
  // .npmrc
  // - ignore-scripts=true
  // + ignore-scripts=false
  it.each(['ci', 'install'])('runs no script of a package that is not on the list: npm %s', (command) => {
    npm(command);
    expect(ran()).toEqual([]);
    runInstallScripts();
    expect(ran()).toEqual(['allowed']);
  });

  it('runs scripts on the list once, and again after the next npm ci', () => {
    npm('ci');
    runInstallScripts();
    rmSync(join(project, 'node_modules/allowed/ran'));
    runInstallScripts();
    expect(ran()).toEqual([]);
    npm('ci');
    runInstallScripts();
    expect(ran()).toEqual(['allowed']);
  });

  it('would run all scripts without these settings', () => {
    npm('ci', '--ignore-scripts=false', '--dangerously-allow-all-scripts');
    expect(ran()).toEqual(PACKAGES);
  });

  function makePackage(name: string): void {
    mkdirSync(join(project, name));
    write(`${name}/package.json`, { name, version: '1.0.0', scripts: { postinstall: 'node script.js' } });
    writeFileSync(join(project, name, 'script.js'), SCRIPT);
  }

  function write(path: string, content: object): void {
    writeFileSync(join(project, path), JSON.stringify(content));
  }

  function npm(...args: string[]): void {
    run('npm', ...args, '--offline', '--no-audit', '--no-fund');
  }

  function runInstallScripts(): void {
    run(process.execPath, 'scripts/launch/install-scripts.mjs');
  }

  /** Runs a program without the environment of an npm that runs this test. */
  function run(program: string, ...args: string[]): void {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
    const { status, stderr } = spawnSync(program, args, { cwd: project, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  function ran(): string[] {
    return PACKAGES.filter((name) => existsSync(join(project, 'node_modules', name, 'ran')));
  }
});
