import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/service-process';

const folder = mkdtempSync(join(tmpdir(), 'accounts-trim-'));
afterAll(() => rmSync(folder, { recursive: true }));

const GOES = [
  'a/types.d.ts',
  'a/b/main.mts',
  'a/index.js.map',
  'swagger-ui-dist/swagger-ui.js',
  'swagger-ui-dist/swagger-ui-bundle.js.map',
  '@scarf/scarf/report.js',
];
const STAYS = [
  'a/index.js',
  'a/typescript/index.js',
  'a/LICENSE.md',
  'a/prebuilt/a.node',
  'a/data.json',
  'a/ts',
  'swagger-ui-dist/package.json',
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
];

describe('the packages of the image', () => {
  it('lack sources, types, source maps and unserved files of Swagger UI, and keep everything else', () => {
    mkdirSync(join(folder, 'scripts/release'), { recursive: true });
    cpSync(join(ROOT, 'scripts/release/trim-packages.mjs'), join(folder, 'scripts/release/trim-packages.mjs'));
    const packages = join(folder, 'node_modules');
    for (const path of [...GOES, ...STAYS]) {
      mkdirSync(dirname(join(packages, path)), { recursive: true });
      writeFileSync(join(packages, path), 'x');
    }
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/release/trim-packages.mjs')]);
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
    expect([...GOES, ...STAYS].filter((path) => existsSync(join(packages, path)))).toEqual(STAYS);
  });
});
