// node scripts/launch/run.mjs [--dev] FILE [WORD …]: how every command begins: a current Node, dependencies, then the
// program, in this one process. --dev installs what only developers need, too.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureDependencies, root } from './dependencies.mjs';

const dev = process.argv[2] === '--dev';
await ensureDependencies({ dev });
const [file, ...words] = process.argv.slice(dev ? 3 : 2);
const program = join(root, file);
process.argv = [process.execPath, program, ...words];
if (file.endsWith('.ts')) {
  const require = createRequire(import.meta.url);
  require('./typescript.cjs');
  require(program);
} else {
  await import(pathToFileURL(program).href);
}
