import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { COMMON_REASONS, REASONS, type Reason } from '../../../src/base/reasons';
import { requestId, retryAfter } from './headers';
import { capitalized, sentence } from './names';

/** Reasons for which the server or a proxy may refuse any request, before the operation gets it. */
const ON_THE_WAY: readonly Reason[] = [
  'request_too_slow',
  'too_early',
  'headers_too_large',
  'bad_gateway',
  'service_away',
];
/** Statuses of these that only a proxy sends, without a request id. */
const WITHOUT_ID = [408, 431, 502, 503];

/** Qiniu uses statuses beyond this one, for which OpenAPI has no place. */
const LAST_STATUS = 599;

/** Names of the answers that most operations share, by status. */
const NAMES: Partial<Record<number, string>> = {
  400: 'BadRequest',
  401: 'NotSignedIn',
  403: 'CrossSite',
  408: 'RequestTooSlow',
  413: 'BodyTooLarge',
  425: 'TooEarly',
  431: 'HeadersTooLarge',
  500: 'Failed',
  502: 'BadGateway',
  503: 'Unavailable',
};

/** Ends of names that begin with the name of an operation. */
const STATUSES: Partial<Record<number, string>> = {
  ...NAMES,
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  406: 'NotAcceptable',
  408: 'TimedOut',
  413: 'TooLarge',
  429: 'TooMany',
  614: 'Taken',
};
const USUAL = [...COMMON_REASONS.filter((reason) => reason !== 'malformed_path'), ...ON_THE_WAY];

const fieldProblem = z
  .object({
    path: z.string().meta({ description: 'The path of the field.', examples: ['nickname'] }),
    message: z
      .string()
      .meta({ description: 'An explanation for developers.', examples: ['must be 1 to 32 bytes of UTF-8'] }),
  })
  .meta({ id: 'FieldProblem', description: 'A field at fault.' });

const message = z.string().meta({ description: 'An explanation for developers. It may change.' });
const details = z.array(fieldProblem).optional().meta({ description: 'The fields at fault, if any.' });
const error = z.string().optional().meta({ description: 'The message again, if the storage refuses.' });

type ByStatus = [status: string, answer: ZodOpenApiResponseObject];

/** The kind of a refusal. `upload` also has Qiniu's field `error`. */
type Kind = 'refusal' | 'upload';

/** Returns the answers for these reasons, by status, and the answers that a proxy or the server may give first. */
export function refusalsBy(operation: string, reasons: readonly Reason[], kind: Kind = 'refusal'): ByStatus[] {
  const all = [...reasons, ...ON_THE_WAY];
  const statuses = [...new Set(all.map((reason) => REASONS[reason].code as number))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const own = all.filter((reason) => REASONS[reason].code === status);
    return [status > LAST_STATUS ? 'default' : String(status), shared(operation, own, status, kind)];
  });
}

const made = new Map<string, { key: string; answer: ZodOpenApiResponseObject }>();

/** Returns one component for each set of reasons, so that clients have one type for it. */
function shared(operation: string, reasons: Reason[], status: number, kind: Kind): ZodOpenApiResponseObject {
  const name = nameOf(operation, reasons, status, kind);
  const key = reasons.join();
  const known = made.get(name) ?? { key, answer: refused(name, reasons, status, kind) };
  if (known.key !== key) throw new Error(`${name} is the name of ${known.key} and of ${key}`);
  made.set(name, known);
  return known.answer;
}

/**
 * Names an answer after the one reason that the usual answer of its status does not have. An answer with several such
 * reasons is named after its operation, so that another reason does not change the name.
 */
function nameOf(operation: string, reasons: Reason[], status: number, kind: Kind): string {
  const usual = USUAL.filter((reason) => REASONS[reason].code === status);
  const [special = '', ...more] = reasons.filter((reason) => !usual.includes(reason));
  const isUsual = usual.every((reason) => reasons.includes(reason));
  if (kind === 'upload' || more.length > 0) return `${capitalized(operation)}${STATUSES[status]}`;
  if (isUsual) return special === '' ? (NAMES[status] ?? '') : inPascalCase(special);
  const [only = '', ...others] = reasons;
  return others.length > 0 ? `${capitalized(operation)}${STATUSES[status]}` : `Only${inPascalCase(only)}`;
}

function inPascalCase(reason: string): string {
  return reason.split('_').map(capitalized).join('');
}

/** Returns an answer with a flat schema: generators of clients drop a schema that narrows another by `allOf`. */
function refused(name: string, reasons: Reason[], status: number, kind: Kind): ZodOpenApiResponseObject {
  const waits = status === 429 || status === 503;
  const [first] = reasons;
  if (first === undefined) throw new Error(`${status} without a reason`);
  const schema = z
    .object({
      code: z.literal(status).meta({ description: 'The HTTP status again.' }),
      reason: z.enum(reasons).meta({ description: 'The reason, for programs. Later versions may have more reasons.' }),
      message,
      ...(status === 400 && { details }),
      ...(kind === 'upload' && { error }),
    })
    .meta({ id: `${name}Refusal`, description: `An answer with HTTP ${status}.` });
  const said = sentence(REASONS[first].when);
  const example = { code: status, reason: first, message: said, ...(kind === 'upload' && { error: said }) };
  return {
    id: name,
    description: listed(reasons),
    headers: z.object({
      'X-Request-Id': WITHOUT_ID.includes(status) ? requestId.optional() : requestId,
      'X-Reason': reasonHeader(reasons),
      ...(waits && { 'Retry-After': retryAfter }),
    }),
    content: { 'application/json': { schema, example } },
  };
}

export function reasonHeader(reasons: Reason[]) {
  return z.enum(reasons).meta({ description: 'The reason of the refusal.', examples: reasons.slice(0, 1) });
}

/** Returns the reasons as a list in Markdown. */
export function listed(reasons: readonly Reason[]): string {
  return reasons.map((reason) => `- \`${reason}\`: ${REASONS[reason].when}`).join('\n');
}
