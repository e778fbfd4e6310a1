import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './service-process';

const CLIENT = join(ROOT, 'packages', 'client');

/** Returns the modules of packages/client as they are packed, by name. */
export function builtClient(): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-built-'));
  const compiler = require.resolve('typescript/lib/tsc.js');
  const told = ['-p', CLIENT, '--outDir', folder, '--noCheck', '--declaration', 'false'];
  try {
    execFileSync(process.execPath, [compiler, ...told], { stdio: 'inherit' });
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    return new Map(names.map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name), 'utf8')]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
