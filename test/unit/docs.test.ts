import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '../..');
const CLIENT = 'packages/client';
const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  join(CLIENT, 'README.md'),
  ...inDocs.filter((name) => name.endsWith('.md')).map((name) => join('docs', name)),
];

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const withoutCode = (text: string) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, 'code');

/** Returns the target of each relative link of a page: a path from the root, and a heading there. */
function linksOf(page: string): { path: string; heading: string }[] {
  return [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', heading = ''] = target.split('#');
      return { path: path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path)), heading };
    });
}

/** Returns the anchors that forges make of headings. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documentation', () => {
  it.each(pages)('has only links on %s that lead somewhere', (page) => {
    const broken = linksOf(page).filter(
      ({ path, heading }) => !existsSync(join(ROOT, path)) || (heading !== '' && !anchorsOf(path).includes(heading)),
    );
    expect(broken).toEqual([]);
  });

  // guard unit-docs-1: the README of the client links only to what npm has
  // packages/client/README.md
  // - as docs/api.md of the service has it
  // + as [docs/api.md](../../docs/api.md) has it
  it("links to nothing outside the package in the client's README, which is the only page that npm shows", () => {
    const outside = linksOf(join(CLIENT, 'README.md')).filter(({ path }) => !path.startsWith(`${CLIENT}/`));
    expect(outside).toEqual([]);
  });

  it('has its pages listed in docs/README.md', () => {
    const listed = linksOf('docs/README.md').map(({ path }) => path);
    const there = readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name));
    const unlisted = there.filter((path) => !listed.includes(path) && path !== 'docs/README.md');
    expect(unlisted.filter((path) => path.endsWith('.md'))).toEqual([]);
  });

  it('can be reached from the README, each page of it', () => {
    const found = new Set(['README.md']);
    for (const page of found)
      for (const { path } of linksOf(page))
        if (path.endsWith('.md')) found.add(path);
        else if (existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory())
          for (const name of readdirSync(join(ROOT, path))) if (name.endsWith('.md')) found.add(join(path, name));
    expect(pages.filter((page) => !found.has(page))).toEqual([]);
  });

  it.each(['an-operation', 'a-feature'])('on adding-%s change lines that stand in their files once', (what) => {
    const page = readFileSync(join(ROOT, `docs/adding-${what}.md`), 'utf8');
    const blocks = [...page.matchAll(/^```diff (\S+)\n(.*?)\n```$/gms)];
    expect(blocks.length).toBeGreaterThan(5);
    for (const [, file = '', text = ''] of blocks) {
      const before = text.split('\n').filter((line) => !line.startsWith('+'));
      const lines = before.map((line) => `${line.slice(1)}\n`).join('');
      expect(readFileSync(join(ROOT, file), 'utf8').split(lines)).toHaveLength(2);
    }
  });
});
