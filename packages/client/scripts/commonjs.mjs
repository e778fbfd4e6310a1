// Writes a package.json for dist/cjs, because the package's own one says that all files are ES modules.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'cjs');
writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
