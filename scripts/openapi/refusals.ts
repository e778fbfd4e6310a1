import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { COMMON_REASONS, REASONS, type Reason } from '../../src/reasons';
import { requestId, retryAfter } from './headers';
import { sentence } from './names';

/** What any request may be refused for before the service has it, by the server or by a proxy. */
const ON_THE_WAY: readonly Reason[] = ['request_too_slow', 'headers_too_large', 'bad_gateway', 'service_away'];
/** Of these, statuses that a proxy alone answers with, and that know no request id. */
const WITHOUT_ID = [408, 431, 502, 503];

/** Qiniu has some beyond, for which OpenAPI has no place of their own. */
const LAST_STATUS = 599;

/** Those that are the same for most operations, by their names for programs. */
const NAMES: Partial<Record<number, string>> = {
  ...{ 400: 'BadRequest', 401: 'NotSignedIn', 403: 'CrossSite', 408: 'RequestTooSlow', 413: 'BodyTooLarge' },
  ...{ 431: 'HeadersTooLarge', 500: 'Failed', 502: 'BadGateway', 503: 'Unavailable' },
};
const USUAL = [...COMMON_REASONS.filter((reason) => reason !== 'malformed_path'), ...ON_THE_WAY];

const fieldProblem = z
  .object({
    path: z.string().meta({ description: 'Of the field.', examples: ['nickname'] }),
    message: z.string().meta({ description: 'For a developer.', examples: ['must be 1 to 32 bytes of UTF-8'] }),
  })
  .meta({ id: 'FieldProblem' });

const names = Object.keys(REASONS) as [Reason, ...Reason[]];

const anyReason = z.enum(names).meta({
  id: 'Reason',
  description: 'Why it is refused, for programs: these words stay. Later versions may have more.',
  'x-enum-descriptions': names.map((reason) => REASONS[reason].when),
});

const refusal = z
  .object({
    code: z.int().meta({ description: 'The HTTP status again.', examples: [400] }),
    reason: anyReason,
    message: z.string().meta({ description: 'For a developer: it may change.' }),
    details: z.array(fieldProblem).optional().meta({ description: 'The fields at fault, where some are.' }),
  })
  .meta({ id: 'Refusal', description: 'Everything but HTTP 200.' });

/** By Qiniu's protocol. */
const uploadRefusal = refusal
  .extend({ error: z.string().optional().meta({ description: 'The message again, where the storage refuses.' }) })
  .meta({ id: 'UploadRefusal' });

type ByStatus = [status: string, answer: ZodOpenApiResponseObject];

/** All answers of these reasons, by status, and those that may come of the way to the service. */
export function refusalsBy(reasons: readonly Reason[], kind: 'refusal' | 'upload' = 'refusal'): ByStatus[] {
  const all = [...reasons, ...ON_THE_WAY];
  const statuses = [...new Set(all.map((reason) => REASONS[reason].code as number))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const own = all.filter((reason) => REASONS[reason].code === status);
    return [status > LAST_STATUS ? 'default' : String(status), shared(status, own, kind)];
  });
}

const made = new Map<string, ZodOpenApiResponseObject>();

/** One object for the same answer, so that it is written once. */
function shared(status: number, reasons: Reason[], kind: 'refusal' | 'upload'): ZodOpenApiResponseObject {
  const key = [kind, ...reasons].join();
  const answer = made.get(key) ?? refused(status, reasons, kind);
  made.set(key, answer);
  return answer;
}

function refused(status: number, reasons: Reason[], kind: 'refusal' | 'upload'): ZodOpenApiResponseObject {
  const waits = status === 429 || status === 503;
  const [first] = reasons;
  if (first === undefined) throw new Error(`${status} without a reason`);
  const narrowed = z.object({ code: z.literal(status), reason: z.enum(reasons) });
  const schema = z.intersection(kind === 'upload' ? uploadRefusal : refusal, narrowed);
  const message = sentence(REASONS[first].when);
  const example = { code: status, reason: first, message, ...(kind === 'upload' && { error: message }) };
  return {
    ...(isUsual(status, reasons, kind) && { id: NAMES[status] }),
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

function isUsual(status: number, reasons: Reason[], kind: 'refusal' | 'upload'): boolean {
  return kind === 'refusal' && reasons.join() === USUAL.filter((reason) => REASONS[reason].code === status).join();
}

/** As Markdown. */
export function listed(reasons: readonly Reason[]): string {
  return reasons.map((reason) => `- \`${reason}\`: ${REASONS[reason].when}`).join('\n');
}
