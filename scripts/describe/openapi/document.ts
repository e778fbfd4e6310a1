import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { operations, RESOURCES, type Cookies } from '../../../src/composition/operations';
import type { Services } from '../../../src/composition/services';
import { changesEndpoint } from '../../../src/features/sync/changes-router';
import type { Endpoint } from '../../../src/http/endpoint';
import { healthz, readyz } from '../../../src/http/health-router';
import { openApi, openApi30 } from '../../../src/http/openapi-router';
import type { Operation } from '../../../src/http/operation';
import { challengeOfCaptcha } from '../../../src/integrations/captcha/altcha/challenge-router';
import { picture } from '../../../src/integrations/captcha/drawn/picture-router';
import { widget } from '../../../src/integrations/captcha/siteverify/widget-router';
import { keySet } from '../../../src/integrations/messaging/choose-messaging-provider';
import { image, upload } from '../../../src/integrations/storage/endpoints';
import { answersOfEndpoint, answersOf, needsSession } from './answers';
import { addExamples } from './examples';
import { operationId, templated } from './names';
import { toldOf } from './told';

/** The endpoints by their tag in the document, which may be a tag of operations. */
const ENDPOINTS: Record<string, Endpoint[]> = {
  Images: [upload, image],
  Captchas: [picture, widget, challengeOfCaptcha],
  Sync: [changesEndpoint],
  Tokens: [keySet],
  Health: [healthz, readyz],
  Document: [openApi, openApi30],
};

const ABOUT = `
Phone-number accounts for messaging apps. Every operation is a POST with a JSON object, at most 16 KiB, and answers
\`{ code, result? }\`. Fields that are not described may come with later versions: ignore them.
`;

const BEARER =
  'For clients that keep no cookies. They send `X-Session: bearer` with each request, and get the session in the header ' +
  '`X-Session-Token` of a login, and of a later answer that renews it.';

const SERVER = 'http://127.0.0.1:8585';

const TAGS: Record<string, string> = {
  ...RESOURCES,
  Images: 'Uploads, and the images themselves.',
  Health: 'For supervisors and load balancers.',
  Document: 'This description.',
};

export interface Package {
  version: string;
  license: string;
}

/** A session's cookie, or its token. */
const SESSION = [{ sid: [] }, { bearer: [] }];

/** Describes the whole service, from the values that its routers are made of. */
export function openApiDocument({ version, license }: Package): object {
  // The descriptions need no services.
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
      servers: [{ url: SERVER, description: 'The service that npm start runs.' }],
      externalDocs: { url: `${SERVER}/docs`, description: 'A page to try the service on.' },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths: { ...pathsOf(resources), ...pathsOfEndpoints() },
      components: {
        securitySchemes: {
          sid: {
            type: 'apiKey',
            in: 'cookie',
            name: 'sid',
            description: 'The cookie that login sets: `sid`, in production `__Host-sid`.',
          },
          bearer: { type: 'http', scheme: 'bearer', description: BEARER },
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
    security: needsSession(operation) ? SESSION : operation.knowsSession ? [...SESSION, {}] : [],
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

/** Writes schemas so that generators of clients read them. */
export function override({ jsonSchema, zodSchema }: Overridden): void {
  const { def } = zodSchema._zod;
  // No value matches two schemas of a union, and generators of clients handle oneOf better.
  if (def.type === 'union' && jsonSchema.anyOf) {
    jsonSchema.oneOf = jsonSchema.anyOf;
    delete jsonSchema.anyOf;
  }
  if (def.type === 'literal' && def.values.every(Number.isInteger)) jsonSchema.type = 'integer';
  // Generators for Go and Rust tell answers apart by a separate schema with one value, not by a constant in another one.
  if (jsonSchema.type === 'integer' && 'id' in jsonSchema && jsonSchema.const !== undefined) {
    jsonSchema.enum = [jsonSchema.const];
    delete jsonSchema.const;
  }
  // Languages do not have a type that is only true: Swift's generator writes one that does not compile.
  if (jsonSchema.type === 'boolean') delete jsonSchema.const;
  // An integer in a path is a string with a pattern for the service, and a number for clients.
  if (jsonSchema.type === 'integer') delete jsonSchema.pattern;
  if (def.type === 'nullable') asTypes(jsonSchema);
  // Generators of clients require a field that has a default.
  delete jsonSchema.default;
  // The format already says this.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  // A later version may add fields, but not to an answer that is only a return code.
  if (jsonSchema.additionalProperties === false && Object.keys(jsonSchema.properties ?? {}).join() !== 'code')
    delete jsonSchema.additionalProperties;
}

/** Writes a nullable schema as a list of two types, which generators of clients understand. */
function asTypes(schema: z.core.JSONSchema.BaseSchema): void {
  const [one, other] = schema.anyOf ?? [];
  if (one?.type === undefined || other?.type !== 'null') return;
  const { description, examples } = schema;
  delete schema.anyOf;
  Object.assign(schema, one, { type: [one.type, 'null'], description, examples });
}
