import { z } from 'zod';
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { COMMON_REASONS, REASONS, type Reason } from '../../../src/base/reasons';
import { described } from '../../../src/base/schemas';
import { done as doneSchema, doneCode, type Endpoint } from '../../../src/http/endpoint';
import type { Operation } from '../../../src/http/operation';
import { requestId, retryAfter } from './headers';
import { capitalized, operationId } from './names';
import { listed, reasonHeader, refusalsBy } from './refusals';

/** Codes from this one on come with HTTP 200. */
const LEAST_RETURN_CODE = 1_000;

export function answersOf(operation: Operation): ZodOpenApiResponsesObject {
  const reasons = reasonsOf(operation);
  const isReturned = (reason: Reason) => REASONS[reason].code >= LEAST_RETURN_CODE;
  const refused = refusalsBy(
    operationId(operation.path),
    reasons.filter((reason) => !isReturned(reason)),
  );
  return {
    200: success(operation, reasons.filter(isReturned)),
    ...Object.fromEntries<ZodOpenApiResponseObject>(refused),
  };
}

/** Returns all reasons of an operation: its own, and the common ones that apply. No other code reads its refusals. */
function reasonsOf(operation: Operation): Reason[] {
  const { params, body, refusals = [] } = operation;
  const cannotBe: Reason[] = [
    ...(params || body ? [] : (['invalid_input'] as const)),
    ...(params ? [] : (['malformed_path'] as const)),
    ...(needsSession(operation) ? [] : (['not_signed_in'] as const)),
  ];
  return [...COMMON_REASONS.filter((reason) => !cannotBe.includes(reason)), ...refusals];
}

export function needsSession({ access }: Operation): boolean {
  return access === 'user' || access === 'reader';
}

export function answersOfEndpoint({
  method,
  name,
  params,
  answer,
  redirect,
  refusals = [],
  like,
}: Endpoint): ZodOpenApiResponsesObject {
  const reasons: Reason[] = [
    ...(params ? (['malformed_path'] as const) : []),
    ...(method === 'post' ? (['cross_site'] as const) : []),
    ...(['internal_error'] as const),
    ...refusals,
  ];
  return {
    200: {
      description: 'Done.',
      headers: z.object({ 'X-Request-Id': requestId }),
      content: { [answer.type]: { schema: answer.result ?? z.string().meta({ format: 'binary' }) } },
    },
    ...(redirect !== undefined && { 307: { description: redirect } }),
    ...Object.fromEntries<ZodOpenApiResponseObject>(refusalsBy(name, reasons, like)),
  };
}

function success(operation: Operation, returned: Reason[]): ZodOpenApiResponseObject {
  const codes = [...new Set(returned.map((reason) => REASONS[reason].code))];
  const [first, second, ...more] = [successOf(operation, codes.length > 0), ...codes.map(returnCode)] as const;
  const why = returned.length > 0 && { 'X-Reason': reasonHeader(returned).optional() };
  const wait = codes.includes(5000) && { 'Retry-After': retryAfter.optional() };
  return {
    description: ['Done.', ...codes.map((code) => withCode(code, returned))].join('\n\n'),
    headers: z.object({ 'X-Request-Id': requestId, ...sessionIn(operation), ...why, ...wait }),
    content: { 'application/json': { schema: second ? eitherOf(operation, [first, second, ...more]) : first } },
  };
}

function withCode(code: number, returned: Reason[]): string {
  return `With the return code ${code}:\n\n${listed(returned.filter((reason) => REASONS[reason].code === code))}`;
}

/**
 * Returns the cookies of an answer, and the headers that a client gets in their place which sends `X-Session: bearer`.
 * Use renews a session now and then.
 */
function sessionIn(operation: Operation): Record<string, z.ZodType> {
  const { cookies, knowsSession } = operation;
  const renews = needsSession(operation) || knowsSession;
  if (!cookies) return renews ? { 'Set-Cookie': renewed, 'X-Session-Token': sessionToken } : {};
  return {
    'Set-Cookie': z.string().optional().meta({ description: cookies.sets }),
    'X-Session-Token': sessionToken,
    'X-Device-Token': deviceToken,
  };
}

const renewed = z
  .string()
  .optional()
  .meta({ header: { id: 'RenewedSession' }, description: "The session's renewed cookie, at most once a day." });

const sessionToken = z
  .string()
  .optional()
  .meta({
    header: { id: 'SessionToken' },
    description: 'The session, in place of its cookie, for a client that sends `X-Session: bearer`.',
    examples: ['Yk3tVvQ2pWc0r8mJqXz5dHn1sLbG7uEa.3q2Jr0i8yT5m9Xc1vB7nK4wQ6zR2pLhG0dFsYuE1aoM'],
  });

const deviceToken = z
  .string()
  .optional()
  .meta({
    header: { id: 'DeviceToken' },
    description: 'The device, in place of its cookie, for a client that sends `X-Session: bearer`.',
    examples: ['k7Qw2mZr9TfB.0.Zm9vYmFyYmF6cXV4MTIzNA.1775044800000.c2lnbmVk'],
  });

/** Returns the name of an operation's answer, which may be one of several. */
function answerId({ path }: Operation): string {
  return `${capitalized(operationId(path))}Answer`;
}

function eitherOf(operation: Operation, answers: [z.ZodType, z.ZodType, ...z.ZodType[]]): z.ZodType {
  const description = `The answers of ${operation.path} with HTTP 200. The field code tells them apart.`;
  return z.union(answers).meta({ id: answerId(operation), description });
}

function successOf(operation: Operation, isOneOfSeveral: boolean): z.ZodType {
  const { path, result } = operation;
  if (!result) return doneSchema;
  const id = isOneOfSeveral ? `${capitalized(operationId(path))}Success` : answerId(operation);
  const description = `The answer of ${path} when it was successful.`;
  const rows = result instanceof z.ZodArray ? described(result, { description: 'The rows.' }) : result;
  return z.object({ code: doneCode, result: rows }).meta({ id, description });
}

const returnCodes = new Map<number, z.ZodType>();

function returnCode(code: number): z.ZodType {
  const description = 'Only a return code. The header X-Reason has the reason.';
  const made =
    returnCodes.get(code) ??
    z
      .strictObject({ code: z.literal(code).meta({ id: `Code${code}`, description: 'The return code.' }) })
      .meta({ id: `ReturnCode${code}`, description });
  returnCodes.set(code, made);
  return made;
}
