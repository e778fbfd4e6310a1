import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutPackages } from '../support/paths';
import { ROOT } from '../support/service-process';

interface Package {
  version: string;
  scripts: Record<string, string>;
  packages: Record<string, { version: string }>;
}

/** A repository with the files that a release changes, and with a check whose result the test sets. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'accounts-release-'));
  for (const name of ['scripts', 'package.json', 'package-lock.json', 'CHANGELOG.md', '.gitignore'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: withoutPackages });
  change('package.json', (text) => {
    const file = JSON.parse(text) as Package;
    return JSON.stringify({ ...file, version: '0.1.0', scripts: { check: 'exit 0' } }, null, 2) + '\n';
  });
  change(
    'CHANGELOG.md',
    () => '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- All.\n',
  );
  git('init', '--quiet');
  git('config', 'user.name', 'A');
  git('config', 'user.email', 'a@example.invalid');
  commit();
});
afterEach(() => rmSync(folder, { recursive: true }));

function change(name: string, by: (text: string) => string): void {
  const path = join(folder, name);
  writeFileSync(path, by(readFileSync(path, 'utf8')));
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
}

function release(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release/release.mjs', ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function read(name: string): Package {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as Package;
}

describe('npm run release', () => {
  it('sets the version, dates the changelog, commits and tags', () => {
    expect(release('0.2.0').status).toBe(0);
    expect(read('package.json').version).toBe('0.2.0');
    const lock = read('package-lock.json');
    expect([lock.version, lock.packages['']?.version]).toEqual(['0.2.0', '0.2.0']);
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
    expect(changelog).toMatch(
      /^# Changelog\n\n## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- A thing\.\n\n## \[0\.1\.0\]/,
    );
    expect(git('cat-file', '-t', 'v0.2.0')).toBe('tag');
    expect(git('tag', '--list', '--format=%(contents)', 'v0.2.0')).toBe('0.2.0\n\n### Added\n\n- A thing.');
    expect(git('log', '--format=%s', '-1')).toBe('Release 0.2.0');
    expect(git('rev-parse', 'v0.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
    expect(git('status', '--porcelain')).toBe('');
    // The two files have no other changes: one line of package.json, two of the lock file.
    expect(git('diff', '--numstat', 'HEAD~1', '--', 'package.json', 'package-lock.json').split('\n')).toEqual([
      '2\t2\tpackage-lock.json',
      '1\t1\tpackage.json',
    ]);
  });

  it('in a dry run shows the version and its notes, and changes nothing', () => {
    const before = git('rev-parse', 'HEAD');
    const { status, stdout } = release('minor', '--dry-run');
    expect([status, stdout]).toEqual([
      0,
      'v0.2.0 would be made, after npm run check, with these notes:\n\n### Added\n\n- A thing.\n',
    ]);
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).toEqual(['', before, '']);
  });

  it.each([
    ['patch', '0.1.1'],
    ['minor', '0.2.0'],
    ['major', '1.0.0'],
  ])('accepts a %s', (word, version) => {
    expect(release(word).status).toBe(0);
    expect(read('package.json').version).toBe(version);
  });

  // guard release-1: a release contains nothing that is not committed
  // scripts/release/release.mjs
  // - if (git('status', '--porcelain') !== '') throw new Refusal('commit or remove what has changed first: git status');
  // guard release-2: a release contains nothing that the check refuses
  // scripts/release/release.mjs
  // - if (!npm('run', 'check')) throw
  // + if (!npm('run', 'check') && false) throw
  it.each<[string, string[], () => void, RegExp]>([
    ['no version', [], () => undefined, /name a version/],
    ['an invalid version', ['v1'], () => undefined, /name a version/],
    ['an earlier version', ['0.0.9'], () => undefined, /0\.0\.9 does not come after 0\.1\.0/],
    ['the same version', ['0.1.0'], () => undefined, /does not come after/],
    ['a changed file', ['minor'], () => change('.gitignore', (text) => `${text}x\n`), /commit or remove/],
    ['a new file', ['minor'], () => writeFileSync(join(folder, 'new'), ''), /commit or remove/],
    ['an existing tag', ['minor'], () => void git('tag', 'v0.2.0'), /there is a tag v0\.2\.0/],
    [
      'nothing to tell',
      ['minor'],
      () => (change('CHANGELOG.md', (text) => text.replace('### Added\n\n- A thing.\n\n', '')), commit()),
      /tells nothing/,
    ],
    [
      'a check that fails',
      ['minor'],
      () => (change('package.json', (text) => text.replace('exit 0', 'exit 1')), commit()),
      /npm run check fails/,
    ],
  ])('refuses %s, and changes nothing', (_case, words, prepare, why) => {
    prepare();
    const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')];
    const { status, stderr } = release(...words);
    expect(status).toBe(1);
    expect(stderr).toMatch(new RegExp(`^No release: .*${why.source}`, 'm'));
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).toEqual(before);
    expect(read('package.json').version).toBe('0.1.0');
  });
});
