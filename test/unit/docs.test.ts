import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '../..');
const pages = ['README.md', ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })]
  .map((name) => (name === 'README.md' ? name : join('docs', name)))
  .filter((name) => name.endsWith('.md'));

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const withoutCode = (text: string) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, 'code');

/** Where each link of a page leads that is no address: a path from the root, and a heading there. */
function linksOf(page: string): { path: string; heading: string }[] {
  return [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', heading = ''] = target.split('#');
      return { path: path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path)), heading };
    });
}

/** As forges make them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documentation', () => {
  it.each(pages)('has no link on %s that leads nowhere', (page) => {
    const broken = linksOf(page).filter(
      ({ path, heading }) => !existsSync(join(ROOT, path)) || (heading !== '' && !anchorsOf(path).includes(heading)),
    );
    expect(broken).toEqual([]);
  });

  it('is found from the README, each page of it', () => {
    const found = new Set(['README.md']);
    for (const page of found)
      for (const { path } of linksOf(page))
        if (path.endsWith('.md')) found.add(path);
        else if (existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory())
          for (const name of readdirSync(join(ROOT, path))) if (name.endsWith('.md')) found.add(join(path, name));
    expect(pages.filter((page) => !found.has(page))).toEqual([]);
  });
});
