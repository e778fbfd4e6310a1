// Compiles to dist/, and puts beside the code the files that it reads. It does not check types: `npm run types` does.
import { build } from 'esbuild';
import { cpSync, globSync, rmSync, statSync } from 'node:fs';

const CODE = [
  'knexfile.ts',
  'src/**/*.ts',
  'packages/{embedded-database,image-server}/src/**/*.ts',
  'scripts/operate/{admin,backup,migrate,migrate-rollback,setup}.ts',
];

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: globSync(CODE),
  outbase: '.',
  outdir: 'dist',
  format: 'cjs',
  platform: 'node',
  target: 'node22.18',
  // As require(), import() finds files whose names have no extension.
  supported: { 'dynamic-import': false },
  sourcemap: 'linked',
  sourcesContent: false,
  // No tsconfig.json is read, since the image has none.
  tsconfigRaw: {},
  logLevel: 'warning',
});
cpSync('migrations', 'dist/migrations', { recursive: true });
for (const document of ['openapi.json', 'admin-openapi.json']) cpSync(`docs/${document}`, `dist/docs/${document}`);
// Files that are not TypeScript: JavaScript that threads and child processes start with, files for browsers, and words.
for (const folder of ['src', 'packages/image-server/src'])
  cpSync(folder, `dist/${folder}`, {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || /\.(cjs|mjs|html|css|svg|json)$/.test(path),
  });
