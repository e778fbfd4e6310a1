// Writes docs/openapi.json, which the service serves. With the word 3.0 it prints the document in OpenAPI 3.0.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { inOpenApi30 } from '../src/http/openapi-3-0';
import { openApiDocument, type Package } from './openapi/document';

const root = join(__dirname, '..');
const file = join(root, 'docs/openapi.json');

async function main(): Promise<void> {
  if (process.argv.includes('3.0')) {
    const document = JSON.parse(readFileSync(file, 'utf8')) as object;
    process.stdout.write(`${JSON.stringify(inOpenApi30(document), null, 2)}\n`);
    return;
  }
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package;
  // Prettier puts on one line what fits, which halves the lines of JSON.stringify.
  const text = await format(JSON.stringify(openApiDocument(own)), { parser: 'json', printWidth: 120 });
  writeFileSync(file, text);
}

void main();
