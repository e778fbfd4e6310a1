// Compiles to dist/ and puts the migrations beside the code, where it looks for them.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';

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
// Plain JavaScript, which the compiler leaves alone.
const worker = 'src/features/auth/hashing-worker.cjs';
cpSync(worker, `dist/${worker}`);
