import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { COMMON_REASONS, REASONS, type Reason } from '../../src/base/reasons';
import { requestId, retryAfter } from './headers';
import { capitalized, sentence } from './names';

/** What any request may be refused for before the service has it, by the server or by a proxy. */
const ON_THE_WAY: readonly Reason[] = [
  'request_too_slow',
  'too_early',
  'headers_too_large',
  'bad_gateway',
  'service_away',
];
/** Of these, statuses that a proxy alone answers with, and that know no request id. */
const WITHOUT_ID = [408, 431, 502, 503];

/** Qiniu has some beyond, for which OpenAPI has no place of their own. */
const LAST_STATUS = 599;

/** The answers that most operations share, by their names for programs. */
const NAMES: Partial<Record<number, string>> = {
  ...{ 400: 'BadRequest', 401: 'NotSignedIn', 403: 'CrossSite', 408: 'RequestTooSlow', 413: 'BodyTooLarge' },
  ...{ 425: 'TooEarly', 431: 'HeadersTooLarge', 500: 'Failed', 502: 'BadGateway', 503: 'Unavailable' },
};

/** The ends of names that begin with an operation's. */
const STATUSES: Partial<Record<number, string>> = {
  ...NAMES,
  ...{ 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 406: 'NotAcceptable', 408: 'TimedOut' },
  ...{ 413: 'TooLarge', 429: 'TooMany', 614: 'Taken' },
};
const USUAL = [...COMMON_REASONS.filter((reason) => reason !== 'malformed_path'), ...ON_THE_WAY];

const fieldProblem = z
  .object({
    path: z.string().meta({ description: 'Of the field.', examples: ['nickname'] }),
    message: z.string().meta({ description: 'For a developer.', examples: ['must be 1 to 32 bytes of UTF-8'] }),
  })
  .meta({ id: 'FieldProblem', description: 'A field at fault.' });

const message = z.string().meta({ description: 'Explains the refusal to a developer. It may change.' });
const details = z.array(fieldProblem).optional().meta({ description: 'The fields at fault, where there are some.' });
const error = z.string().optional().meta({ description: 'The message again, where the storage refuses.' });

type ByStatus = [status: string, answer: ZodOpenApiResponseObject];

/** `upload` has Qiniu's field `error` too. */
type Kind = 'refusal' | 'upload';

/** The answers for these reasons, by status, and those that may come from a proxy or the server before the operation. */
export function refusalsBy(operation: string, reasons: readonly Reason[], kind: Kind = 'refusal'): ByStatus[] {
  const all = [...reasons, ...ON_THE_WAY];
  const statuses = [...new Set(all.map((reason) => REASONS[reason].code as number))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const own = all.filter((reason) => REASONS[reason].code === status);
    return [status > LAST_STATUS ? 'default' : String(status), shared(operation, own, status, kind)];
  });
}

const made = new Map<string, { key: string; answer: ZodOpenApiResponseObject }>();

/** One component for each set of reasons, so that the document has it once and clients have one type for it. */
function shared(operation: string, reasons: Reason[], status: number, kind: Kind): ZodOpenApiResponseObject {
  const name = nameOf(operation, reasons, status, kind);
  const key = reasons.join();
  const known = made.get(name) ?? { key, answer: refused(name, reasons, status, kind) };
  if (known.key !== key) throw new Error(`${name} is the name of ${known.key} and of ${key}`);
  made.set(name, known);
  return known.answer;
}

/**
 * After the one reason that sets the answer apart from the usual one of its status. Answers with several such reasons
 * are named after their operation, so that another reason leaves the name as it is.
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

/** A flat schema: generators of clients drop one that narrows another by `allOf`. */
function refused(name: string, reasons: Reason[], status: number, kind: Kind): ZodOpenApiResponseObject {
  const waits = status === 429 || status === 503;
  const [first] = reasons;
  if (first === undefined) throw new Error(`${status} without a reason`);
  const schema = z
    .object({
      code: z.literal(status).meta({ description: 'The HTTP status again.' }),
      reason: z.enum(reasons).meta({ description: 'Why, for programs. Later versions may have more.' }),
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
  return z.enum(reasons).meta({ description: 'Why it is refused.', examples: reasons.slice(0, 1) });
}

/** As Markdown. */
export function listed(reasons: readonly Reason[]): string {
  return reasons.map((reason) => `- \`${reason}\`: ${REASONS[reason].when}`).join('\n');
}
