// Beside package.json, which says that all of it are ES modules, one that says what dist/cjs has.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'cjs');
writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
