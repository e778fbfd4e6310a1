import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SECRETS, VARIABLES } from '../../src/config/variables';
import { STEPS } from '../compose/steps';
import { codeBlocks, codesInSentences } from '../support/code-blocks';
import { ROOT } from '../support/service-process';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name))]
  .filter((name) => name.endsWith('.md'))
  .map((page) => ({ page, blocks: codeBlocks(read(page)) }));

const inShell = blocksIn(['', 'sh', 'bash']);
const overrides = blocksIn(['yaml']);

/** Each line of a block, and each inline code of a sentence. */
const commands = [
  ...inShell.flatMap(({ page, text }) => text.split('\n').map((line) => ({ page, line: line.replace(/ #.*/, '') }))),
  ...pages.flatMap(({ page }) => codesInSentences(read(page)).map((line) => ({ page, line }))),
];

interface Compose {
  services: Record<string, { environment?: Record<string, string> }>;
}
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const backupScript = read('deploy/backup.sh');

function blocksIn(kinds: string[]): { page: string; first: string; text: string }[] {
  return pages.flatMap(({ page, blocks }) =>
    blocks
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ text }) => ({ page, first: text.split('\n')[0] ?? '', text })),
  );
}

/** Returns the words after a program and its command, without options and their values. */
function wordsOf(line: string): string[] {
  const [command = ''] = line.split(/[|<;&]/);
  return command
    .replace(/ --(user|entrypoint|scale) \S+/g, '')
    .split(' ')
    .filter((word) => word !== '' && !/^-/.test(word));
}

describe('the commands of the documentation', () => {
  it.each(inShell)('are valid shell on $page: $first', ({ text }) => {
    const scripts = [text, ...[...text.matchAll(/<<'(\w+)'\n(.*?)^\1$/gms)].map(([, , inner = '']) => inner)];
    for (const input of scripts)
      expect(spawnSync('bash', ['-n'], { input, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  it('run scripts that package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const run = commands.flatMap(({ line }) => [...line.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)]);
    const names = run.map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('name existing steps and faults', () => {
    const only = (script: string) =>
      commands.flatMap(({ line }) => {
        const [, names = ''] = new RegExp(`npm run ${script} -- --only=(\\S+)`).exec(line) ?? [];
        return names.split(',').filter((name) => name !== '');
      });
    expect(STEPS.map(({ name }) => name)).toEqual(expect.arrayContaining(only('compose-test')));
    expect(only('compose-test')).not.toEqual([]);
    expect(only('faults')).not.toEqual([]);
    const known = read('test/faults/faults.ts') + read('test/faults/run.ts');
    for (const name of only('faults')) expect(known).toContain(`'${name}'`);
  });

  // guard commands-docs-1: the documentation names commands that backups understand
  // docs/backup.md
  // - docker compose run --rm backup resend
  // + docker compose run --rm backup again
  it('name services of the compose files, and commands that its backup service understands', () => {
    const asked = commands.flatMap(({ page, line }) => {
      const [, command = '', rest = ''] =
        /docker compose (run|exec|up|stop|start|ps|logs|build|rm)\b(.*)/.exec(line) ?? [];
      const words = wordsOf(rest);
      if (words.length === 0) return [];
      const services = ['run', 'exec'].includes(command) ? words.slice(0, 1) : words;
      return [{ page, line, services, args: words.slice(1) }];
    });
    expect(asked.length).toBeGreaterThan(20);
    const overlay = parse(read('deploy/high-availability/compose.yml'), { merge: true }) as Compose;
    const known = Object.keys({ ...compose.services, ...overlay.services });
    expect(asked.filter(({ services }) => services.some((name) => !known.includes(name)))).toEqual([]);

    const scaled = commands.flatMap(({ line }) => [...line.matchAll(/--scale (\w+)=/g)]).map(([, name]) => name);
    expect(new Set(scaled)).toEqual(new Set(['service']));
    const backups = asked.filter(({ line }) => line.includes('run --rm backup'));
    expect(backups).not.toEqual([]);
    for (const { args } of backups) expect(backupScript).toMatch(new RegExp(`^ {2}${args[0]}\\) `, 'm'));
    const options = commands.flatMap(({ line }) => [...line.matchAll(/ restore \S+(?: (--[a-z-]+))+/g)]);
    const all = options.flatMap(([line]) => line.match(/--[a-z-]+/g) ?? []);
    expect(all.length).toBeGreaterThan(1);
    for (const option of all) expect(backupScript).toContain(`      ${option}) `);
  });

  it('name existing scripts and files', () => {
    const files = commands.flatMap(({ line }) => [...line.matchAll(/(?:^|[ =])((?:scripts|deploy)\/[\w./-]+)/g)]);
    expect(files.length).toBeGreaterThan(3);
    expect(files.map(([, path = '']) => path).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const inImage = commands.flatMap(({ line }) => [...line.matchAll(/node dist\/(\S+)\.js/g)]);
    expect(inImage).not.toEqual([]);
    for (const [, path] of inImage) expect(read('Dockerfile')).toContain(` ${path}.ts `);
  });

  it('name the images that the deployment builds from and runs', () => {
    const images = [...read('docs/deploying.md').matchAll(/\b((?:node|postgres|caddy):\d[\w.-]+)/g)];
    expect(images.length).toBeGreaterThan(4);
    const used = `${read('docker-compose.yml')}${read('Dockerfile')}`;
    expect(images.map(([, image = '']) => image).filter((image) => !used.includes(image))).toEqual([]);
  });

  it.each(overrides)('set variables that existing services read, on $page', ({ text }) => {
    const { services } = parse(text) as Compose;
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(services)));
    const taken = [...VARIABLES, ...SECRETS.map((name) => `${name}_FILE`)];
    for (const { environment = {} } of Object.values(services))
      for (const name of Object.keys(environment)) expect(taken).toContain(name);
  });
});
