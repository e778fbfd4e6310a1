// npm run client-sizes: measures what the built client adds to a page, and checks that its README says so.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const client = join(dirname(fileURLToPath(import.meta.url)), '../..', 'packages', 'client');
const readme = readFileSync(join(client, 'README.md'), 'utf8');

/** The exports that an app takes, by the row of the README's table. */
const ROWS = {
  'calls: `Client`': ['index', 'Client'],
  'calls and the store: `Client`, `SyncStore`, `indexedDbStorage`': ['index', 'Client, SyncStore, indexedDbStorage'],
  'hooks, without React': ['react', 'useSession, useUser, useFriends, useBlacklist, useGroups, useMembers'],
};

/** Tolerance: changes of a few bytes need no new table. */
const TOLERATED_HUNDREDS = 1;

for (const [row, [module, names]] of Object.entries(ROWS)) {
  const bytes = await compressedBytes(`export { ${names} } from '${join(client, 'dist', `${module}.js`)}';`);
  const hundreds = Math.round(bytes / 100);
  const [, said] = readme.split(`| ${row} | `)[1]?.match(/^([\d.]+) kB/) ?? [];
  const isRight = Math.abs(Math.round(10 * Number(said)) - hundreds) <= TOLERATED_HUNDREDS;
  process.stdout.write(`${row}: ${hundreds / 10} kB${isRight ? '' : `, where the README says ${said ?? 'nothing'}`}\n`);
  if (!isRight) process.exitCode = 1;
}

/** Returns the size of the minified file, compressed by gzip. */
async function compressedBytes(entry) {
  const id = 'entry.mjs';
  const { output } = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [
      { name: 'entry', resolveId: (name) => (name === id ? id : null), load: (name) => (name === id ? entry : null) },
    ],
    build: {
      write: false,
      rolldownOptions: { input: id, external: 'react', preserveEntrySignatures: 'strict' },
    },
  });
  if (output.length !== 1) throw new Error(`${output.length} files instead of one`);
  return gzipSync(output[0].code).length;
}
