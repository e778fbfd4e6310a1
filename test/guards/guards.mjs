// Each guard of the service, the change that removes it from the source, and the test that must fail then. Each folder of
// tests has one file. A guard's id is its test's file and the next number of that file; docs/security.md cites it.
import { readdirSync } from 'node:fs';
import { URL } from 'node:url';
import { guards as api } from './api.mjs';
import { guards as attacks } from './attacks.mjs';
import { guards as browser } from './browser.mjs';
import { guards as client } from './client.mjs';
import { guards as fuzz } from './fuzz.mjs';
import { guards as imageServer } from './image-server.mjs';
import { guards as integrations } from './integrations.mjs';
import { guards as process } from './process.mjs';
import { guards as tools } from './tools.mjs';
import { guards as unit } from './unit.mjs';

const FOLDERS = {
  'test/api': api,
  'test/attacks': attacks,
  'test/browser': browser,
  'test/client': client,
  'test/fuzz': fuzz,
  'packages/image-server/test': imageServer,
  'test/integrations': integrations,
  'test/process': process,
  'test/tools': tools,
  'test/unit': unit,
};

const tests = Object.keys(FOLDERS).flatMap((folder) => {
  const files = readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true });
  return files.map((file) => `${folder}/${file.replaceAll('\\', '/')}`);
});

export const guards = Object.entries(FOLDERS).flatMap(([folder, rows]) =>
  Object.entries(rows).map(([id, guard]) => ({ id, test: testOf(id, folder), ...guard })),
);

/** Returns the test of an id, which may be in a folder of a slice. */
function testOf(id, folder) {
  const file = `/${fileOf(id, folder)}.test`;
  const found = tests.find((test) => test.startsWith(`${folder}/`) && test.endsWith(`${file}.ts`));
  return found?.replace(/\.ts$/, '') ?? folder + file;
}

/** Returns the file of an id. If files of two folders share a name, the id begins with the folder's name. */
function fileOf(id, folder) {
  const [name] = folder.split('/').slice(-1);
  return id.replace(/-\d+$/, '').replace(new RegExp(`^${name}-`), '');
}
