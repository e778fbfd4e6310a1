import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../support/service-process';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface LockedPackage {
  license: string;
  dev?: boolean;
  integrity?: string;
  optionalDependencies?: Record<string, string>;
}

interface Package {
  version: string;
  license: string;
  scripts: Record<string, string>;
  engines: { node: string };
  overrides: Record<string, string>;
  devDependencies: Record<string, string>;
  packages: Record<string, LockedPackage>;
}
const json = (path: string) => JSON.parse(read(path)) as Package;

interface Job {
  strategy: { matrix: { node: number[]; part: string[]; include: { node: number; part: string }[] } };
  steps: { uses?: string; run?: string }[];
}

describe('the licence', () => {
  it('is named the same everywhere', () => {
    expect(read('LICENSE')).toMatch(/^MIT License\n/);
    for (const folder of ['.', 'bench']) {
      expect(json(join(folder, 'package.json')).license).toBe('MIT');
      expect(json(join(folder, 'package-lock.json')).packages['']?.license).toBe('MIT');
    }
  });
});

/** Licences that anyone who distributes the service may use as they are. */
const FREE = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];
/**
 * Other licences, each looked at: a library that is loaded and not changed, or a package that states its licence
 * elsewhere.
 */
const LOOKED_AT: [name: RegExp, licence: string][] = [
  [/^@img\/sharp-/, 'LGPL-3.0-or-later'],
  [/^@resvg\/resvg-js/, 'MPL-2.0'],
  [/^(busboy|streamsearch|crc32|pause-stream)$/, 'MIT'],
];

describe('licences of packages', () => {
  const installed = Object.entries(json('package-lock.json').packages).filter(
    ([path, { dev }]) => path.includes('node_modules/') && !dev && !path.includes('@user-account-service/'),
  );

  it('used in production are free, or were looked at', () => {
    const names = installed
      .filter(([, { license }]) => !FREE.includes(license))
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(names.filter((name) => !LOOKED_AT.some(([looked]) => looked.test(name)))).toEqual([]);
    expect(installed.length).toBeGreaterThan(200);
  });
});

describe('versions', () => {
  it('in .nvmrc and in the image name the same Node.js', () => {
    expect(read('Dockerfile')).toContain(`ARG NODE_IMAGE=node:${read('.nvmrc').trim()}-`);
  });

  it('name one fetched Node.js for all platforms, and its lock file has a hash for each', () => {
    const { packages } = json('scripts/node/package-lock.json');
    const { '': own, ...fetched } = packages;
    const [version = '', ...others] = new Set(Object.values(own?.optionalDependencies ?? {}));
    expect(others).toEqual([]);
    // On one that is too old, commands would fetch it again and again.
    expect(parseFloat(version)).toBeGreaterThan(parseFloat(json('package.json').engines.node.replace('>=', '')));
    expect(Object.keys(fetched)).toHaveLength(4);
    for (const { integrity } of Object.values(fetched)) expect(integrity).toMatch(/^sha512-/);
  });

  it('pinned exactly have their reason in docs/updates.md', () => {
    const { overrides, devDependencies } = json('package.json');
    const page = read('docs/updates.md');
    const exact = Object.entries({ ...devDependencies, ...overrides }).filter(([, version]) => /^\d/.test(version));
    expect(exact.length).toBeGreaterThan(0);
    for (const [name, version] of exact)
      expect(page).toMatch(new RegExp(`\`${name}\` \\| ${version.replaceAll('.', '\\.')}`));
  });

  it('in the changelog are dated, newest first, with room for the next one', () => {
    const [first, ...released] = read('CHANGELOG.md').match(/^## .*$/gm) ?? [];
    expect(first).toBe('## [Unreleased]');
    for (const line of released) expect(line).toMatch(/^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
    expect(released[0]).toContain(`[${json('package.json').version}]`);
  });
});

it('the index of decisions lists each with its title, its date and its state', () => {
  const index = read('docs/decisions/README.md');
  const files = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => name !== 'README.md');
  const rows = files.map((name) => {
    const [, number = '', title = ''] = /^# (\d+)\. (.*)$/m.exec(read(join('docs/decisions', name))) ?? [];
    return `| ${number} | [${title}](${name}) |`;
  });
  const found = [...index.matchAll(/^(\| \d+ \| \[.*?\]\(.*?\) \|) \d{4}-\d\d-\d\d \| .+ \|$/gm)].map(([, row]) => row);
  expect(found).toEqual(rows);
});

describe('the workflow', () => {
  const text = read('.github/workflows/ci.yml');
  const { jobs, permissions } = parse(text) as { permissions: unknown; jobs: Record<'run' | 'guards' | 'longer', Job> };
  const { node: nodes, part: everywhere, include } = jobs.run.strategy.matrix;
  const parts = [...everywhere, ...include.map(({ part }) => part)];
  const script = read('.ci/run');

  it('runs the deciding checks on each line of Node, including the oldest supported one', () => {
    expect(nodes).toEqual([22.18, 24, 26]);
    expect(json('package.json').engines.node).toBe(`>=${nodes[0]}`);
    expect(jobs.run.steps.map(({ run }) => run)).toContain('bash .ci/run ${{ matrix.part }}');
  });

  it('has a job for each part of the deciding checks, and three for the tests', () => {
    const [, all = ''] = /case \$1 in(.*)esac/s.exec(script) ?? [];
    const known = [...all.matchAll(/^ {4}([a-z |]+)\) /gm)].flatMap(([, names = '']) => names.split(' | '));
    // The clients' part includes the build.
    expect([...parts, 'tests', 'build'].sort()).toEqual(known.sort());
  });

  it('runs every folder of tests', () => {
    const folders = readdirSync(join(ROOT, 'test')).filter((folder) =>
      readdirSync(join(ROOT, 'test', folder)).some((name) => name.endsWith('.test.ts')),
    );
    const run = [...script.matchAll(/npm test -- (.*) ;;/g)].flatMap(([, paths = '']) => paths.split(' '));
    expect(run.sort()).toEqual(['packages', ...folders.map((folder) => `test/${folder}`)]);
  });

  it('needs no secret, may write nothing, and pins what it uses', () => {
    expect(text).not.toMatch(/secrets\./);
    expect(permissions).toEqual({ contents: 'read' });
    for (const { uses } of Object.values(jobs).flatMap(({ steps }) => steps))
      if (uses) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$|@[0-9a-f]{40}$/);
  });
});

describe('CONTRIBUTING.md, SECURITY.md and docs/updates.md', () => {
  const pages = ['CONTRIBUTING.md', 'SECURITY.md', 'docs/updates.md'].map(read).join('\n');

  it('name existing scripts and files', () => {
    const { scripts } = json('package.json');
    const run = [...pages.matchAll(/npm run ([a-z:-]+)/g)].map(([, name = '']) => name);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(run));
    const files = [...pages.matchAll(/`((?:src|test|docs|scripts|bench|\.github)\/[\w./-]+)`/g)].map(
      ([, path = '']) => path,
    );
    expect(files.length).toBeGreaterThan(10);
    for (const path of files) expect(() => readdirSync(join(ROOT, path, '..'))).not.toThrow();
  });
});
