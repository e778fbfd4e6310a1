import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type request from 'supertest';
import { REASONS, type Reason, type ReasonOf } from '../../src/base/reasons';
import type { TestApp } from './app';
import { field } from './people';
import { rememberSecret } from './secrets';

/** An answer whose body is not checked yet. */
export interface Answer {
  status: number;
  body: unknown;
  headers: IncomingHttpHeaders;
}

type Client = Pick<ReturnType<typeof request>, 'post'>;

export async function post(
  client: Client,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await client.post(path).set(headers).send(body);
  return { status: answer.status, body: answer.body as unknown, headers: answer.headers };
}

/** Like `post`, but sends again what a busy machine answers with 503 because it is late, as clients do. */
export async function postUntilServed(...call: Parameters<typeof post>): Promise<Answer> {
  let answer = await post(...call);
  while (answer.status === 503) answer = await post(...call);
  return answer;
}

interface RawOptions {
  method?: string;
  body?: string | Buffer;
  headers?: OutgoingHttpHeaders;
}

/** Sends a request with exactly these headers and bytes, so without a default content type. */
export async function sendRaw({ url }: Pick<TestApp, 'url'>, path: string, options: RawOptions = {}): Promise<Answer> {
  const { status, headers, text } = await exchange(`${url}${path}`, options);
  const isJson = text !== '' && (headers['content-type'] ?? '').startsWith('application/json');
  return rememberIssued({ status, headers, body: isJson ? JSON.parse(text) : text });
}

function exchange(url: string, { method = 'POST', body, headers }: RawOptions) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const req = httpRequest(url, { method, headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Remembers issued secrets, since the logs of the whole run are searched for them. */
function rememberIssued(answer: Answer): Answer {
  const result = field(answer.body, 'result');
  const cookies = [cookieOf(answer), deviceCookieOf(answer)].map((cookie) => cookie.split('=')[1]);
  for (const token of [field(result, 'token'), field(result, 'verification_token'), ...cookies])
    if (typeof token === 'string' && token !== '') rememberSecret(token);
  return answer;
}

/** Makes the calls concurrently. */
export function inParallel<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

/** Expects HTTP 200 with exactly this body. */
export function expectBody(answer: Answer, body: object): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body });
}

/**
 * Expects a refusal: the status repeated in the body, a reason of this status, a message that names what is wrong, and
 * no other field but details.
 */
export function expectRefusal(answer: Answer, expected: number, naming = '', reason = reasonOf(answer)): void {
  const { status, body } = answer;
  const { details, ...rest } = body as { details?: unknown };
  const message: unknown = expect.stringContaining(naming);
  expect({ status, body: rest }).toEqual({ status: expected, body: { code: expected, reason, message } });
  expect(answer).toMatchObject({ headers: { 'x-reason': reason } });
  expect(REASONS[reason as Reason]).toMatchObject({ code: expected });
  const problem = { path: expect.any(String) as string, message: expect.any(String) as string };
  for (const detail of (details ?? []) as unknown[]) expect(detail).toEqual(problem);
}

/** Expects HTTP 200 with exactly this return code. Its reason is only in the header. */
export function expectReturnCode(answer: Answer, reason: ReasonOf<1000 | 2000 | 5000>): void {
  expectBody(answer, { code: REASONS[reason].code });
  expect(reasonOf(answer)).toBe(reason);
}

/** Returns the reason in the header. */
export function reasonOf({ headers }: Pick<Answer, 'headers'>): string {
  return String(headers['x-reason']);
}

/** Counts return codes and statuses: { '200': 1, '1000': 5 }. */
export function countCodes(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { body } of answers) {
    const code = String((body as { code: unknown }).code);
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

/** Returns the session cookie that an answer sets, as it is sent back: name=value. */
export function cookieOf({ headers }: Answer): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

/** Returns the device cookie that a login sets, as it is sent back. */
export function deviceCookieOf({ headers }: Answer): string {
  const [cookie = ''] = (headers['set-cookie'] ?? []).filter((set) => /^(__Host-)?device=/.test(set));
  const [pair = ''] = cookie.split(';');
  if (pair !== '') rememberSecret(pair.slice(pair.indexOf('=') + 1));
  return pair;
}

export function retryAfterOf({ headers }: Answer): number {
  return Number(headers['retry-after']);
}
