// Writes docs/openapi.json, which the service serves.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { openApiDocument, type Package } from './openapi/document';

const root = join(__dirname, '..');

async function main(): Promise<void> {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package;
  // Prettier puts what fits on a line, which leaves half of the lines that JSON.stringify makes.
  const text = await format(JSON.stringify(openApiDocument(own)), { parser: 'json', printWidth: 120 });
  writeFileSync(join(root, 'docs/openapi.json'), text);
}

void main();
