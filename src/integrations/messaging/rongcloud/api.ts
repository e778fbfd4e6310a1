import { createHash, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Breaker } from '../../../load/breaker';
import type { CallObserver } from '../../calls';
import { NoAnswerInTime, post } from '../../post';

export interface RongCloudAccess {
  appKey: string;
  appSecret: string;
  apiUrl: string;
  timeoutMs?: number | undefined;
  observe?: CallObserver | undefined;
}

/** Shorter than the deadline of a request. */
const TIMEOUT_MS = 5_000;

const answer = z.object({ code: z.number(), token: z.string().min(1).optional() });

/** RongCloud answered that it does not do it. */
export class RongCloudRefusal extends Error {
  override readonly name = 'RongCloudRefusal';

  constructor(
    path: string,
    readonly status: number,
    code: number | undefined,
  ) {
    // Only the code: the message may repeat the request.
    super(`RongCloud: ${path} failed (HTTP status ${status}, code ${code ?? 'missing'})`);
  }
}

/** Fields of a call. A list is sent as a field for each. */
type Fields = Record<string, string | string[]>;

/** RongCloud's server API. */
export class RongCloudApi {
  /** Stands for the credentials: a token is worthless under others. RongCloud drops all of an app with its secret. */
  readonly app: string;
  /** By how much its time is ahead of `performance.now()`, which never jumps. Unknown until the database has told. */
  private ahead: number | undefined;
  private readonly breaker = new Breaker('RongCloud', (error) => error instanceof NoAnswerInTime);

  constructor(private readonly access: RongCloudAccess) {
    this.app = createHmac('sha256', access.appSecret).update(access.appKey).digest('base64url').slice(0, 16);
  }

  /** Sets the time to that of the database. RongCloud may refuse calls whose time is wrong, as a machine's may be. */
  setTime(milliseconds: number): void {
    this.ahead = milliseconds - performance.now();
  }

  now(): number {
    return this.ahead === undefined ? Date.now() : Math.round(performance.now() + this.ahead);
  }

  async call(path: string, fields: Fields): Promise<z.infer<typeof answer>> {
    const { appKey, appSecret, apiUrl, timeoutMs = TIMEOUT_MS, observe } = this.access;
    const form = { body: formOf(fields), headers: signedHeaders(appKey, appSecret, this.now()), timeoutMs, observe };
    const { status, body } = await this.breaker.run(() =>
      post(`RongCloud: ${path}`, apiUrl.replace(/\/+$/, '') + path, form),
    );
    const parsed = answer.safeParse(body);
    if (status !== 200 || !parsed.success || parsed.data.code !== 200)
      throw new RongCloudRefusal(path, status, parsed.data?.code);
    return parsed.data;
  }
}

function formOf(fields: Fields): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
  );
}

function signedHeaders(appKey: string, appSecret: string, now: number): Record<string, string> {
  const nonce = randomBytes(8).toString('hex');
  const timestamp = String(now);
  const signature = createHash('sha1')
    .update(appSecret + nonce + timestamp)
    .digest('hex');
  return { 'App-Key': appKey, Nonce: nonce, Timestamp: timestamp, Signature: signature };
}
