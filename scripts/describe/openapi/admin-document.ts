import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { REMOTE_COMMANDS } from '../../../src/admin/admin-api';
import type { Command } from '../../../src/admin/command';
import { bodyOf, neededOf, pathOf } from '../../../src/admin/command-body';
import { COMMON_REASONS, type Reason } from '../../../src/base/reasons';
import { doneCode } from '../../../src/http/endpoint';
import { openApi } from '../../../src/http/openapi-router';
import { answersOfEndpoint } from './answers';
import { override, type Package } from './document';
import { addExamples } from './examples';
import { requestId } from './headers';
import { operationId, sentence } from './names';
import { refusalsBy } from './refusals';

const ABOUT =
  'The commands of operators over HTTP, on a port of their own. Each is a POST with a JSON object, needs a token, and ' +
  'answers `{ code, result }`. Fields of a body that are not described are refused.';

const TOKEN =
  'A token that `admin tokens add` has printed. Its scope, read, support or admin, includes those before it.';

/** Tag of the commands that are one word. */
const ALONE = 'diagnosis';

/** Examples of words, by their names. */
const WORDS: Record<string, string> = { user: '+447911123456', phone: '+447911123456', event: 'logged_in' };

const CANNOT_BE: readonly Reason[] = ['malformed_path', 'not_signed_in'];

const cell = z
  .union([z.string(), z.number(), z.boolean(), z.null()])
  .meta({ id: 'Cell', description: 'A value of a row.', examples: ['open'] });
const row = z
  .record(z.string(), cell)
  .meta({ id: 'Row', description: 'A row of a table, by its columns.', examples: [{ state: 'open' }] });
const line = z.union([z.string(), row]).meta({ id: 'Line', description: 'A sentence, or a row of a table.' });
const parts = z.record(z.string(), z.array(line)).meta({
  id: 'Parts',
  description: 'The parts of the answer by their titles, as the command line shows them. Programs may read the rows.',
  examples: [{ user: [{ id: 'k7Qw2mZr9TfB', state: 'open' }] }],
});
const answer = z
  .object({ code: doneCode, result: parts })
  .meta({ id: 'Answer', description: 'The answer of a command.' });

/** Describes the admin API, from the table of commands that its router is made of. */
export function adminDocument({ version, license }: Package): object {
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'User Account Service: admin API',
        version,
        license: { name: license, identifier: license },
        description: ABOUT,
      },
      servers: [{ url: 'http://127.0.0.1:9465', description: 'An instance with ADMIN_PORT=9465.' }],
      tags: [...new Set([...REMOTE_COMMANDS.map(tagOf), 'document'])].map((name) => ({ name })),
      paths: {
        ...(Object.fromEntries(
          REMOTE_COMMANDS.map((command) => [pathOf(command), { post: operationOf(command) }]),
        ) as ZodOpenApiPathsObject),
        [openApi.path]: { get: describingItself() },
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: TOKEN } } },
    },
    { override: keepingClosed },
  );
  addExamples(document);
  return document;
}

/** Like `override`, but bodies say that they refuse other fields. */
function keepingClosed(context: Parameters<typeof override>[0] & { io: 'input' | 'output' }): void {
  const isClosed = context.io === 'input' && context.jsonSchema.additionalProperties === false;
  override(context);
  if (isClosed) context.jsonSchema.additionalProperties = false;
}

function tagOf({ name }: Command): string {
  const [first = '', second] = name.split(' ');
  return second === undefined ? ALONE : first;
}

function operationOf(command: Command): ZodOpenApiOperationObject {
  const schema = bodyOf(command);
  const id = operationId(pathOf(command));
  return {
    operationId: id,
    tags: [tagOf(command)],
    summary: sentence(command.what),
    description: toldOf(command),
    security: [{ token: [] }],
    requestBody: {
      required: neededOf(command).length > 0,
      content: { 'application/json': { schema, example: exampleOf(command) } },
    },
    responses: {
      200: {
        description: 'Done.',
        headers: z.object({ 'X-Request-Id': requestId }),
        content: { 'application/json': { schema: answer } },
      },
      ...Object.fromEntries(refusalsBy(id, reasonsOf(command))),
    },
  };
}

function toldOf({ scope, changes, isFinal }: Command): string {
  return [
    `Needs a token with the scope ${scope}.`,
    changes ? 'A change leaves a row in the audit trail, with the name of the token.' : 'It changes nothing.',
    ...(isFinal ? ['It cannot be undone.'] : []),
  ].join(' ');
}

/** Tries a command that changes something with `dryRun`. */
function exampleOf(command: Command): object {
  const words = neededOf(command).map((name) => [name, WORDS[name] ?? name] as const);
  return { ...Object.fromEntries(words), ...(command.changes && { dryRun: true }) };
}

function reasonsOf({ scope, isFinal, takes }: Command): Reason[] {
  return [
    ...COMMON_REASONS.filter((reason) => !CANNOT_BE.includes(reason)),
    'admin_token_wrong',
    // Every token may do what needs the least scope, but name a user only by the id.
    ...(scope === 'read' && !takes.includes('<user>') ? [] : (['scope_too_low'] as const)),
    'admin_mistake',
    ...(isFinal ? (['not_sure'] as const) : []),
    'too_many_admin_calls',
  ];
}

function describingItself(): ZodOpenApiOperationObject {
  return {
    operationId: openApi.name,
    tags: ['document'],
    summary: openApi.summary,
    description: 'Anyone who reaches the port may read it, without a token.',
    security: [],
    responses: answersOfEndpoint(openApi),
  };
}
