import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { inOpenApi30 } from '../../src/http/openapi-3-0';
import { DOCUMENT, type Document } from '../support/document';

const document = inOpenApi30(DOCUMENT) as Document;

/** Returns every part of a document with its place. */
function parts(part: unknown, at = ''): [at: string, part: Record<string, unknown>][] {
  if (typeof part !== 'object' || part === null) return [];
  const below = Object.entries(part).flatMap(([name, value]) =>
    name === 'example' || name === 'examples' ? [] : parts(value, `${at}/${encodeURIComponent(escaped(name))}`),
  );
  return [[at, part as Record<string, unknown>], ...below];
}

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
const namesIn = (part: Document) => parts(part).map(([at]) => at);

describe('the document in OpenAPI 3.0', () => {
  it('has the operations, answers, schemas and fields of the one in 3.1', () => {
    const isNamed = (at: string) => /^\/paths\/[^/]+(\/\w+(\/responses\/\w+)?)?$|^\/components\/\w+\/\w+/.test(at);
    const wanted = namesIn(DOCUMENT).filter(isNamed);
    expect(wanted.length).toBeGreaterThan(1_000);
    // A reference that has a description stands one step deeper.
    const found = new Set(namesIn(document));
    expect(wanted.filter((at) => !found.has(at) && !/\/(type|examples)(\/|$)/.test(at))).toEqual([]);
  });

  it('has no keyword of 3.1', () => {
    const newer = parts(document).filter(([at, part]) => {
      const isOfFields = at.endsWith('/properties');
      const hasWord = 'const' in part || 'examples' in part || 'identifier' in part || Array.isArray(part.type);
      return !isOfFields && (hasWord || ('$ref' in part && Object.keys(part).length > 1));
    });
    expect(newer.map(([at]) => at)).toEqual([]);
  });

  // guard openapi-3-0-1: the document of OpenAPI 3.0 says what may be null
  // src/http/openapi-3-0.ts
  // - types.includes('null') && { nullable: true }
  // + false
  it('has each example of the one in 3.1', () => {
    const ajv = new Ajv({ strict: false, validateSchema: false, formats: { binary: true, password: true } });
    addFormats(ajv);
    ajv.addSchema(document, 'openapi');
    const shown = parts(document).filter(([, part]) => 'schema' in part && 'example' in part);
    expect(shown.length).toBeGreaterThan(100);
    const wrong = shown.flatMap(([at, { example }]) => {
      const validate = ajv.getSchema(`openapi#${at}/schema`);
      return validate?.(example) === true ? [] : [`${at}: ${ajv.errorsText(validate?.errors)}`];
    });
    expect(wrong).toEqual([]);
  });
});
