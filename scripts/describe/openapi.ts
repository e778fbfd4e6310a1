// Writes docs/openapi.json and docs/admin-openapi.json, which the service serves. With the word 3.0 it prints the first
// document in OpenAPI 3.0.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { inOpenApi30 } from '../../src/http/openapi-3-0';
import { adminDocument } from './openapi/admin-document';
import { openApiDocument, type Package } from './openapi/document';

const root = join(__dirname, '../..');
const FILE = 'docs/openapi.json';

async function main(): Promise<void> {
  if (process.argv.includes('3.0')) {
    const document = JSON.parse(readFileSync(join(root, FILE), 'utf8')) as object;
    process.stdout.write(`${JSON.stringify(inOpenApi30(document), null, 2)}\n`);
    return;
  }
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package;
  await write(FILE, openApiDocument(own));
  await write('docs/admin-openapi.json', adminDocument(own));
}

/** Writes with Prettier, which puts on one line what fits: this halves the lines of JSON.stringify. */
async function write(file: string, document: object): Promise<void> {
  const text = await format(JSON.stringify(document), { parser: 'json', printWidth: 120 });
  writeFileSync(join(root, file), text);
}

void main();
