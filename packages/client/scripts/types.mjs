// npm run types: generates src/document.ts from docs/openapi.json. With --check it only tests whether that is up to date.
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
  process.stderr.write('packages/client/src/document.ts is not up to date: npm run types in packages/client\n');
  process.exitCode = 1;
}

/** Returns the first lines, with the document's hash. A test compares it, so that the types are never out of date. */
function headOf(document) {
  const hash = createHash('sha256').update(document).digest('hex');
  return `// Generated from docs/openapi.json by npm run types. Do not edit.\n// SHA-256 of the document: ${hash}\n\n`;
}

/**
 * Leaves out the bodies of refusals: the client has its own type for them, and their header has the reasons. Also
 * leaves out descriptions of operations, since editors show only their summaries.
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

/** Leaves out methods that a path does not take, and parameters that an operation does not have. */
function withoutNever(types) {
  return types.replace(/^ +\w+\?: never;\n/gm, '').replace(/^ +parameters: \{\n +\};\n/gm, '');
}

/** Leaves out examples, which would be most of the package, but keeps properties of schemas with such a name. */
function withoutExamples(value, name = '') {
  if (Array.isArray(value)) return value.map((inner) => withoutExamples(inner));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => name === 'properties' || !/^examples?$/.test(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutExamples(inner, key)]));
}
