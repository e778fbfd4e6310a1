import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument, type Package } from '../../scripts/describe/openapi/document';
import { resolveRef, type Document, type Schema } from '../support/document';
import { ROOT } from '../support/service-process';

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as unknown;

const document = JSON.parse(JSON.stringify(openApiDocument(read('package.json') as Package))) as Document;

interface Refusal {
  properties: { code: { const?: number }; reason: { enum?: string[] } };
}

interface ReasonHeader {
  schema: { enum?: string[] };
}

const isDescribed = ({ description, $ref }: Schema) => description !== undefined || $ref !== undefined;

/** Returns every part of a document below this one with its place. */
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
  // guard unit-openapi-2: the committed document describes the current operations
  // src/features/users/profile.ts
  // - id: 'Profile'
  // + id: 'UserProfile'
  it('describes the current operations (npm run openapi writes it)', () => {
    expect(read('docs/openapi.json')).toEqual(document);
  });

  // Generators of clients stumbled over these: see test/sdks.
  it('names every schema of several kinds, so that generated clients have a name for it', () => {
    const unions = placesOf(({ oneOf, anyOf }) => oneOf !== undefined || anyOf !== undefined);
    expect(unions.filter((at) => !/^\/components\/schemas\/\w+$/.test(at))).toEqual([]);
  });

  // guard unit-openapi-4: a return code has a schema of its own, by which Go and Rust distinguish answers
  // scripts/describe/openapi/document.ts
  // - jsonSchema.enum = [jsonSchema.const];
  // - delete jsonSchema.const;
  it('distinguishes answers with the same fields by a one-value schema, since Go and Rust ignore constants', () => {
    const codes = placesOf((part) => part.const !== undefined && part.const !== null);
    const refusals = /^\/components\/schemas\/\w+Refusal\/properties\/code$/;
    expect(codes.filter((at) => !refusals.test(at) && !at.includes('SyncOptions'))).toEqual([]);
    expect(document.components.schemas.ReturnCode1000?.properties?.code).toEqual({
      $ref: '#/components/schemas/Code1000',
    });
    expect(document.components.schemas.Code1000).toMatchObject({ type: 'integer', enum: [1000] });
  });

  it('has no field that can only be true, no half-described object, and no pattern with a slash', () => {
    expect(placesOf((part) => typeof part.const === 'boolean')).toEqual([]);
    expect(placesOf(({ additionalProperties: more = false }) => more !== false)).toEqual([]);
    expect(placesOf(({ pattern }) => typeof pattern === 'string' && pattern.includes('/'))).toEqual([]);
  });

  // guard unit-openapi-5: a refusal has one flat schema
  // scripts/describe/openapi/refusals.ts
  // - .meta({ id: `${name}Refusal`, description: `An answer with HTTP ${status}.` })
  // + .and(z.object({ code: z.literal(status) }))
  it('has a flat schema for each refusal, which generators of clients type, and one for each set of reasons', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const refusals = operations.flatMap(({ responses }) =>
      Object.entries(responses).flatMap(([status, response]) => (/^[23]/.test(status) ? [] : [{ status, response }])),
    );
    expect(refusals.length).toBeGreaterThan(500);
    for (const { status, response } of refusals) {
      const { headers = {}, content = {} } = resolveRef(document, response);
      const schema = resolveRef(document, content['application/json']?.schema ?? {}) as Refusal;
      expect(schema).toMatchObject({ type: 'object', required: ['code', 'reason', 'message'] });
      const { code, reason } = schema.properties;
      expect(code.const).toBe(status === 'default' ? 614 : Number(status));
      expect(reason.enum).toEqual((headers['X-Reason'] as ReasonHeader).schema.enum);
    }
    const references = refusals.map(({ response }) => response.$ref);
    expect(references).not.toContain(undefined);
    expect(new Set(references).size).toBeLessThan(100);
  });

  // guard unit-openapi-1: every operation of the document has its description
  // scripts/describe/openapi/document.ts
  // - description: toldOf(path),
  it('describes each operation, as docs/api.md does', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const silent = operations.filter(({ description = '' }) => description.length < 20 || description.includes(']('));
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
    const invite = document.paths['/friendship/invite']?.post?.description;
    expect(invite).toContain('`None` | nothing has changed');
    expect(invite).toContain('After a 503, or no answer: Ask again. `None` says that it was sent');
  });

  it('describes each schema, and each field that does not refer to one', () => {
    const silent = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
      ...(isDescribed(schema) ? [] : [name]),
      ...Object.entries(schema.properties ?? {}).flatMap(([field, one]) =>
        isDescribed(one) ? [] : [`${name}.${field}`],
      ),
    ]);
    expect(silent).toEqual([]);
  });

  // guard unit-openapi-3: no schema has the name of another one's constructor in Go
  // src/features/groups/groups-schemas.ts
  // - id: 'GroupToCreate'
  // + id: 'NewGroup'
  it("has no schema named New and another schema's name, which Go generators use for its constructor", () => {
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => name.startsWith('New') && names.includes(name.slice('New'.length)))).toEqual([]);
  });

  it('has only HTTP statuses, and paths with plain values', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const statuses = operations.flatMap(({ responses }) => Object.keys(responses));
    expect(statuses.filter((status) => !/^([2-5]\d\d|default)$/.test(status))).toEqual([]);
    const types = operations.flatMap(({ parameters = [] }) => parameters.map(({ schema }) => schema.type));
    expect(new Set(types)).toEqual(new Set(['string', 'integer']));
  });
});
