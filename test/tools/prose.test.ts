import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const PROGRAM = resolve('scripts/check/prose.mjs');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'prose-'));
  git('init', '--quiet');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function git(...args: string[]) {
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd: folder });
}

function commit(subject: string) {
  git('commit', '--quiet', '--allow-empty', '-m', subject);
}

/** Lines of faults, without their excerpts. */
function faultsOf(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  git('add', '--all');
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM], { cwd: folder, encoding: 'utf8' });
  const faults = stderr.split('\n').filter(Boolean);
  expect(status).toBe(faults.length > 0 ? 1 : 0);
  return faults.map((fault) => fault.split(': ').slice(0, 2).join(' '));
}

describe('npm run prose', () => {
  it.each([
    ['Whoever has nothing running comes first.', 'begins with "Whoever"'],
    ['Senders go first. Of these the oldest is taken.', 'begins with "Of"'],
    ['It is written anew.', '"anew"'],
    ['The user is no member of it.', '"is no member"'],
    ['It waits behind the answer.', '"behind the answer"'],
    ['These are for the owner alone.', '"alone"'],
  ])('refuses %j', (text, fault) => {
    expect(faultsOf({ 'a.md': text })).toContain(`a.md:1 ${fault}`);
  });

  it.each([
    'The user is not a member, and there is no group.',
    'What does it hold?',
    'The caller leaves the rest alone.',
    'It is no longer behind a proxy.',
    'The old name was `anew`, and read "whoever comes".',
    '## What it holds',
    '```\nwritten anew\n```',
  ])('accepts %j', (text) => {
    expect(faultsOf({ 'a.md': text })).toEqual([]);
  });

  it('reads the sentence of a guard, and not the lines of its file', () => {
    const lines = ['Who comes.', 'guard a-1: it is written anew', 'a.ts', '- // whoever', '- alone', '+ meanwhile'];
    const others = ['guard a-2: it is no member', 'a.ts', '- anew'];
    const text = [...lines, ...others].map((line) => `// ${line}\n`).join('');
    expect(faultsOf({ 'a.test.ts': text })).toEqual([
      'a.test.ts:1 begins with "Who"',
      'a.test.ts:1 "anew"',
      'a.test.ts:1 "is no member"',
    ]);
  });

  it('refuses a sentence of 36 words in docs, and accepts one of 35', () => {
    const sentence = (words: number) => `${'word '.repeat(words).trim()}.\n`;
    expect(faultsOf({ 'a.md': sentence(36), 'b.md': sentence(35) })).toEqual(['a.md:1 36 words']);
  });

  it('reads comments, messages and names of tests, but not code', () => {
    const source =
      "const anew = 1;\n/** Written anew. */\n// Kept meanwhile.\nit('is told to whoever asks', () => {});\n";
    const settings = '# Kept meanwhile.\nANEW=1\n';
    expect(faultsOf({ 'a.ts': source, '.env.example': settings })).toEqual([
      '.env.example:1 "meanwhile"',
      'a.ts:2 "anew"',
      'a.ts:3 "meanwhile"',
      'a.ts:4 "whoever"',
    ]);
  });

  it('refuses a subject without an area or over 60 characters, of commits that origin/main does not have', () => {
    commit('Lead no browser away');
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    commit('uploads: do not redirect browsers');
    commit('Lead no client away');
    commit(`uploads: ${'x'.repeat(60)}`);
    expect(faultsOf({})).toHaveLength(2);
  });
});
