import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument, type Package } from '../../scripts/openapi/document';
import type { Document } from '../support/document';
import { ROOT } from '../support/service-process';

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as unknown;

const document = read('docs/openapi.json') as Document;

/** Every part of the document below this one, and where it stands. */
function parts(part: unknown, at = ''): [at: string, part: Record<string, unknown>][] {
  if (typeof part !== 'object' || part === null) return [];
  const below = Object.entries(part).flatMap(([name, value]) => parts(value, `${at}/${name.replaceAll('/', '~1')}`));
  return [[at, part as Record<string, unknown>], ...below];
}

const placesOf = (isMeant: (part: Record<string, unknown>) => boolean) =>
  parts(document)
    .filter(([, part]) => isMeant(part))
    .map(([at]) => at);

describe('docs/openapi.json', () => {
  it('is what the operations are now: npm run openapi writes it', () => {
    const written = openApiDocument(read('package.json') as Package);
    expect(document).toEqual(JSON.parse(JSON.stringify(written)));
  });

  // What generators of clients stumbled over: see test/sdks.
  it('has a name for whatever is of several kinds, so that clients have it too', () => {
    const unions = placesOf(({ oneOf, anyOf }) => oneOf !== undefined || anyOf !== undefined);
    expect(unions.filter((at) => !/^\/components\/schemas\/\w+$/.test(at))).toEqual([]);
  });

  it('has no field that can be true alone, no object that is half described, and no pattern with a slash', () => {
    expect(placesOf((part) => typeof part.const === 'boolean')).toEqual([]);
    expect(placesOf(({ additionalProperties: more = false }) => more !== false)).toEqual([]);
    expect(placesOf(({ pattern }) => typeof pattern === 'string' && pattern.includes('/'))).toEqual([]);
  });

  it('has statuses of HTTP alone, and paths of plain values', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const statuses = operations.flatMap(({ responses }) => Object.keys(responses));
    expect(statuses.filter((status) => !/^([2-5]\d\d|default)$/.test(status))).toEqual([]);
    const types = operations.flatMap(({ parameters = [] }) => parameters.map(({ schema }) => schema.type));
    expect(new Set(types)).toEqual(new Set(['string', 'integer']));
  });
});
