import { failure, notJson, type Answer, type Failure, type FieldProblem } from './answer.ts';
import { textOf, type Reply } from './exchange.ts';
import type { Schemas } from './operations.ts';

interface Body {
  code?: unknown;
  result?: unknown;
  reason?: unknown;
  message?: unknown;
  details?: unknown;
  key?: unknown;
  hash?: unknown;
}

type StoredImage = Schemas['StoredImage'];

export async function readAnswer(reply: Reply): Promise<Answer<unknown>> {
  const body = await bodyOf(reply);
  if (reply.status === 200 && body?.code === 200)
    return { ok: true, result: body.result, requestId: requestIdOf(reply) };
  return refusal(reply, body);
}

/** Reads the answer to an upload, which has Qiniu's form, without a code. */
export async function readUpload(reply: Reply): Promise<Answer<StoredImage>> {
  const body = await bodyOf(reply);
  const { key, hash } = body ?? {};
  if (reply.status !== 200 || typeof key !== 'string' || typeof hash !== 'string') return refusal(reply, body);
  return { ok: true, result: { key, hash }, requestId: requestIdOf(reply) };
}

export function requestIdOf({ headers }: Reply): string | undefined {
  return headers.get('X-Request-Id') ?? undefined;
}

function refusal(reply: Reply, body: Body | undefined): Failure {
  const { status, headers } = reply;
  const requestId = requestIdOf(reply);
  const code = typeof body?.code === 'number' ? body.code : status;
  const retryAfter = secondsOf(headers.get('Retry-After'));
  const reason = headers.get('X-Reason') ?? body?.reason;
  if (typeof reason !== 'string')
    return failure('bad_answer', `HTTP ${status}, and not an answer of the service`, { code, retryAfter, requestId });
  const message = typeof body?.message === 'string' ? body.message : reason;
  const details = Array.isArray(body?.details) ? (body.details as FieldProblem[]) : [];
  return failure(reason, message, { code, retryAfter, details, requestId });
}

async function bodyOf(reply: Reply): Promise<Body | undefined> {
  const text = await textOf(reply);
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // A refusal also has its reason in a header.
    const error = notJson(text);
    if (reply.status === 200 && error.reason === 'network') throw error;
    return undefined;
  }
}

function secondsOf(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
}
