import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'accounts-circles-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs Node, since Jest cannot load the ES module. */
function circleAmong(files: Record<string, string>, search = 'circleIn'): unknown {
  for (const inner of ['inner', 'other']) mkdirSync(join(folder, inner));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
  const program = `import('./scripts/check/circles.mjs').then(({ ${search} }) =>
    console.log(JSON.stringify(${search}(${JSON.stringify(folder)}) ?? null)));`;
  const printed = execFileSync(process.execPath, ['-e', program], { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(printed.replaceAll(`${folder}/`, ''));
}

describe('a circle of files', () => {
  // guard circles-1: files that import each other are refused, also where they import types
  // scripts/check/circles.mjs
  // - if (path.includes(file))
  // + if (false)
  it('is found over several files and folders, by types too', () => {
    const files = {
      'a.ts': `import { b } from './inner';`,
      'inner/index.ts': `import type {\n  C,\n} from '../c';`,
      'c.ts': `const a = () => import('./a');`,
    };
    expect(circleAmong(files)).toEqual(['a.ts', 'inner/index.ts', 'c.ts', 'a.ts']);
  });

  it('is not seen where two ways lead to one file', () => {
    const files = {
      'a.ts': `import './b';\nexport * from './c';`,
      'b.ts': `export * from './c';`,
      'c.ts': `import 'pg';`,
    };
    expect(circleAmong(files)).toBeNull();
  });

  // guard circles-2: slices that import each other are refused, whatever their files are
  // scripts/check/circles.mjs
  // - [...(imports.get(name) ?? []), ...others.filter((other) => other !== name)]
  // + others.filter((other) => other !== name)
  it('is found among folders whose files do not import each other', () => {
    const files = {
      'inner/a.ts': `import './b';\nimport '../other/c';`,
      'inner/b.ts': `import 'pg';`,
      'other/c.ts': `import 'pg';`,
      'other/d.ts': `import '../inner/b';`,
    };
    expect(circleAmong(files)).toBeNull();
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    expect(circleAmong(files, 'circleOfFolders')).toEqual(['inner', 'other', 'inner']);
  });
});
