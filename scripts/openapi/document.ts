import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { operations, type Cookies } from '../../src/composition/operations';
import type { Services } from '../../src/composition/services';
import type { Endpoint } from '../../src/http/endpoint';
import { healthz, readyz } from '../../src/http/health-router';
import { openApi, openApi30 } from '../../src/http/openapi-router';
import type { Operation } from '../../src/http/operation';
import { picture } from '../../src/integrations/captcha/picture-router';
import { widget } from '../../src/integrations/captcha/widget-router';
import { keySet } from '../../src/integrations/messaging/choose-messaging-provider';
import { image, upload } from '../../src/integrations/storage/endpoints';
import { answersOfEndpoint, answersOf, needsSession } from './answers';
import { addExamples } from './examples';
import { operationId, templated } from './names';
import { toldOf } from './told';

/** By the tag that they have in the document, which may be one of the operations. */
const ENDPOINTS: Record<string, Endpoint[]> = {
  Images: [upload, image],
  Captchas: [picture, widget],
  Tokens: [keySet],
  Health: [healthz, readyz],
  Document: [openApi, openApi30],
};

const ABOUT = `
Phone-number accounts for messaging apps. Every operation is a POST with a JSON object, at most 16 KiB, and answers
\`{ code, result? }\`. Fields that are not described may come with later versions: ignore them.
`;

const SERVER = 'http://127.0.0.1:8585';

const TAGS: Record<string, string> = {
  Verification: 'Codes that prove a phone.',
  Captchas: 'What a client shows when `captcha_required` is the reason.',
  'Login and passwords': 'Registering, logging in and out, and changing or resetting a password.',
  Sessions: 'Where the account is signed in.',
  Profile: 'What others see of the user.',
  Account: 'Another phone, the data that is kept, and the end of an account.',
  Blacklist: 'Users who cannot send requests or bring the user into groups.',
  Friendships: 'Requests and friends.',
  'Group members': 'Who comes into a group and leaves it, and in which role.',
  Groups: 'Groups and what is shown of them.',
  Sync: 'All changes since the last call.',
  Tokens: 'Tokens for messaging and uploads, and the keys to check them with.',
  Users: 'Other users.',
  Images: 'Uploads, and the images themselves.',
  Health: 'For supervisors and load balancers.',
  Document: 'This description.',
};

export interface Package {
  version: string;
  license: string;
}

/** All of the service, from what its routers are made of. */
export function openApiDocument({ version, license }: Package): object {
  // Nothing of a service is needed for the descriptions.
  const resources = operations({} as Services, {} as Cookies, () => '');
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'User Account Service',
        version,
        license: { name: license, identifier: license },
        description: ABOUT.trim().replace(/\n/g, ' '),
      },
      servers: [{ url: SERVER, description: 'As npm start serves it.' }],
      externalDocs: { url: `${SERVER}/docs`, description: 'A page to try the service on.' },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths: { ...pathsOf(resources), ...pathsOfEndpoints() },
      components: {
        securitySchemes: {
          sid: {
            ...{ type: 'apiKey', in: 'cookie', name: 'sid' },
            description: 'The cookie that login sets: `sid`, in production `__Host-sid`.',
          },
        },
      },
    },
    { override },
  );
  addExamples(document);
  return document;
}

function pathsOf(resources: Record<string, Operation[]>): ZodOpenApiPathsObject {
  const entries = Object.entries(resources).flatMap(([tag, list]) =>
    list.map((operation) => [templated(operation.path), { post: operationOf(operation, tag) }] as const),
  );
  return Object.fromEntries(entries);
}

function operationOf(operation: Operation, tag: string): ZodOpenApiOperationObject {
  const { path, summary, params, body, options } = operation;
  const taken = body ?? options;
  return {
    operationId: operationId(path),
    tags: [tag],
    summary,
    description: toldOf(path),
    security: needsSession(operation) ? [{ sid: [] }] : [],
    ...(params instanceof z.ZodType && { requestParams: { path: params as never } }),
    ...(taken && { requestBody: { required: !!body, content: { 'application/json': { schema: taken } } } }),
    responses: answersOf(operation),
  };
}

function pathsOfEndpoints(): ZodOpenApiPathsObject {
  const entries = Object.entries(ENDPOINTS).flatMap(([tag, list]) => list.map((endpoint) => endpointOf(endpoint, tag)));
  return Object.fromEntries(entries);
}

function endpointOf(endpoint: Endpoint, tag: string): [path: string, item: ZodOpenApiPathsObject[string]] {
  const { method, path, name, summary, params, form } = endpoint;
  const operation: ZodOpenApiOperationObject = {
    operationId: name,
    tags: [tag],
    summary,
    description: toldOf(path, method),
    security: [],
    ...(params && { requestParams: { path: params as never } }),
    ...(form && { requestBody: { required: true, content: { 'multipart/form-data': { schema: form } } } }),
    responses: answersOfEndpoint(endpoint),
  };
  return [templated(path), { [method]: operation }];
}

interface Overridden {
  jsonSchema: z.core.JSONSchema.BaseSchema;
  zodSchema: z.core.$ZodTypes;
}

function override({ jsonSchema, zodSchema }: Overridden): void {
  const { def } = zodSchema._zod;
  // No value is of two kinds, and generators of clients make more of oneOf.
  if (def.type === 'union' && jsonSchema.anyOf) {
    jsonSchema.oneOf = jsonSchema.anyOf;
    delete jsonSchema.anyOf;
  }
  if (def.type === 'literal' && def.values.every(Number.isInteger)) jsonSchema.type = 'integer';
  // Go and Rust tell two answers apart by a schema of its own that has one value, and by no constant within another.
  if (jsonSchema.type === 'integer' && 'id' in jsonSchema && jsonSchema.const !== undefined) {
    jsonSchema.enum = [jsonSchema.const];
    delete jsonSchema.const;
  }
  // No language has a type of true alone: Swift's generator writes one that does not compile.
  if (jsonSchema.type === 'boolean') delete jsonSchema.const;
  // A number that is read from a path.
  if (jsonSchema.type === 'integer') delete jsonSchema.pattern;
  if (def.type === 'nullable') asTypes(jsonSchema);
  // Generators of clients ask for a field that has one.
  delete jsonSchema.default;
  // The format says as much.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  // A later version may have more fields; a return code alone never has.
  if (jsonSchema.additionalProperties === false && Object.keys(jsonSchema.properties ?? {}).join() !== 'code')
    delete jsonSchema.additionalProperties;
}

/** A type or null, as clients' programs have it. */
function asTypes(schema: z.core.JSONSchema.BaseSchema): void {
  const [one, other] = schema.anyOf ?? [];
  if (one?.type === undefined || other?.type !== 'null') return;
  const { description, examples } = schema;
  delete schema.anyOf;
  Object.assign(schema, one, { type: [one.type, 'null'], description, examples });
}
