// Compiles to dist/ and puts the migrations beside the code, where it looks for them.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, statSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json'],
  {
    stdio: 'inherit',
  },
);
if (status !== 0) process.exit(status ?? 1);
cpSync('migrations', 'dist/migrations', { recursive: true });
for (const document of ['openapi.json', 'admin-openapi.json']) cpSync(`docs/${document}`, `dist/docs/${document}`);
// Files that the compiler does not copy: JavaScript that threads and child processes start with, files for browsers, and
// words.
for (const folder of ['src', 'packages/image-server/src'])
  cpSync(folder, `dist/${folder}`, {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || /\.(cjs|mjs|html|css|svg|json)$/.test(path),
  });
