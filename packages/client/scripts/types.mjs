// Makes src/document.ts of docs/openapi.json: npm run types. With --check it only looks whether that is current.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { URL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const DOCUMENT = new URL('../../../docs/openapi.json', import.meta.url);
const TYPES = new URL('../src/document.ts', import.meta.url);

const text = readFileSync(DOCUMENT, 'utf8');
const types = `${headOf(text)}${withoutNever(astToString(await openapiTS(needed(JSON.parse(text)))))}`;
if (!process.argv.includes('--check')) writeFileSync(TYPES, types);
else if (readFileSync(TYPES, 'utf8') !== types) {
  process.stderr.write('packages/client/src/document.ts is not current: npm run types in packages/client\n');
  process.exitCode = 1;
}

/** A test compares the hash, so that nobody forgets to make the types anew. */
function headOf(document) {
  const hash = createHash('sha256').update(document).digest('hex');
  return `// Made of docs/openapi.json by npm run types: not to be changed by hand.\n// SHA-256 of the document: ${hash}\n\n`;
}

/**
 * Leaves out the bodies of refusals: the client has a type of its own for them, and their header tells the reasons. No
 * editor shows what is told of an operation beyond its summary.
 */
function needed(document) {
  const { components, paths } = document;
  for (const operation of Object.values(paths).flatMap(Object.values)) delete operation.description;
  for (const name of Object.keys(components.schemas)) if (name.endsWith('Refusal')) delete components.schemas[name];
  for (const response of Object.values(components.responses)) {
    delete response.content;
    response.description = '';
  }
  return withoutExamples(document);
}

/** Leaves out what is not there: methods that a path does not take, parameters that an operation does not have. */
function withoutNever(types) {
  return types.replace(/^ +\w+\?: never;\n/gm, '').replace(/^ +parameters: \{\n +\};\n/gm, '');
}

/** They would be most of the package. A property of a schema may have such a name, too. */
function withoutExamples(value, name = '') {
  if (Array.isArray(value)) return value.map((inner) => withoutExamples(inner));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => name === 'properties' || !/^examples?$/.test(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutExamples(inner, key)]));
}
