// For the image: removes from node_modules what no running code loads, two thirds of the bytes.
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Swagger UI lists a counter of its installations, and never loads it. The packages of this repository are in dist. */
const NEVER_LOADED = ['@scarf', '@user-account-service'].map((name) => join('node_modules', name));
/** TypeScript sources and types, and source maps of other packages. */
const FOR_COMPILERS = /\.(d\.)?[cm]?ts$|\.map$/;
/** Swagger UI runs only in browsers: the files of the page /docs, and its licence, are kept. */
const FOR_BROWSERS = join('node_modules', 'swagger-ui-dist');
const SERVED = /^(package\.json|LICENSE|NOTICE|swagger-ui\.css|swagger-ui-bundle\.js(\.LICENSE\.txt)?)$/;

const packages = join(dirname(fileURLToPath(import.meta.url)), '../..', 'node_modules');
for (const entry of readdirSync(packages, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (NEVER_LOADED.some((name) => path.endsWith(name))) rmSync(path, { recursive: true });
  else if (entry.isFile() && FOR_COMPILERS.test(entry.name)) rmSync(path, { force: true });
  else if (entry.parentPath.endsWith(FOR_BROWSERS) && !SERVED.test(entry.name)) rmSync(path, { force: true });
}
