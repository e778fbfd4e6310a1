// Writes docs/openapi.json, which the service serves.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument, type Package } from './openapi/document';

const root = join(__dirname, '..');
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package;
writeFileSync(join(root, 'docs/openapi.json'), `${JSON.stringify(openApiDocument(own), null, 2)}\n`);
