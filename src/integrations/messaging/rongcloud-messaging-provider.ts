import { createHash, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Breaker } from '../breaker';
import { NoAnswerInTime, postForm } from '../post-form';
import type { MessagingProvider, MessagingUser } from './messaging-provider';

/** A token and the profile that RongCloud was last told for its user. */
export interface KeptToken {
  token: string;
  nickname: string;
  portraitUri: string;
}

/**
 * Keeps tokens, so that only a user's first login calls RongCloud. `app` stands for the credentials: a token is
 * worthless under others.
 */
export interface KeptTokens {
  get(userId: string, app: string): Promise<KeptToken | undefined>;
  put(userId: string, app: string, kept: KeptToken): Promise<void>;
  /** Of all apps. */
  drop(userId: string): Promise<void>;
}

export interface RongCloudOptions {
  appKey: string;
  appSecret: string;
  apiUrl: string;
  keptTokens: KeptTokens;
  timeoutMs?: number | undefined;
}

/** Shorter than the deadline of a request. */
const TIMEOUT_MS = 5_000;

const answer = z.object({ code: z.number(), token: z.string().min(1).optional() });

/**
 * RongCloud's server API. Its tokens must not expire (the default of the app's console), since a kept token is given
 * out again without asking RongCloud.
 */
export class RongCloudMessagingProvider implements MessagingProvider {
  private readonly app: string;
  private readonly breaker = new Breaker('RongCloud', (error) => error instanceof NoAnswerInTime);

  constructor(private readonly options: RongCloudOptions) {
    // With the secret, since RongCloud drops all tokens of an app when its secret is renewed.
    this.app = createHmac('sha256', options.appSecret).update(options.appKey).digest('base64url').slice(0, 16);
  }

  async token(user: MessagingUser): Promise<string> {
    const kept = await this.options.keptTokens.get(user.id, this.app);
    if (kept === undefined) return this.newToken(user);
    // News of the profile can wait for the next token.
    if (!sameProfile(kept, user)) await this.refresh(user, kept).catch(() => undefined);
    return kept.token;
  }

  /** RongCloud does not know a user without a token; it learns the profile with the first token. */
  async profileChanged(user: MessagingUser): Promise<void> {
    const kept = await this.options.keptTokens.get(user.id, this.app);
    if (kept !== undefined && !sameProfile(kept, user)) await this.refresh(user, kept);
  }

  /** Ends all tokens that RongCloud gave before this moment. */
  async endTokens(userId: string): Promise<void> {
    await this.call('/user/token/expire.json', new URLSearchParams({ userId, time: String(Date.now()) }));
  }

  private async newToken(user: MessagingUser): Promise<string> {
    const { token } = await this.call('/user/getToken.json', profileForm(user));
    if (token === undefined) throw new Error('RongCloud: /user/getToken.json gave no token');
    await this.keep(user, token);
    return token;
  }

  private async refresh(user: MessagingUser, kept: KeptToken): Promise<void> {
    await this.call('/user/refresh.json', profileForm(user));
    await this.keep(user, kept.token);
  }

  private keep({ id, nickname, portraitUri }: MessagingUser, token: string): Promise<void> {
    return this.options.keptTokens.put(id, this.app, { token, nickname, portraitUri });
  }

  private async call(path: string, fields: URLSearchParams): Promise<z.infer<typeof answer>> {
    const { appKey, appSecret, apiUrl, timeoutMs = TIMEOUT_MS } = this.options;
    const form = { fields, headers: signedHeaders(appKey, appSecret), timeoutMs };
    const { status, body } = await this.breaker.run(() =>
      postForm(`RongCloud: ${path}`, apiUrl.replace(/\/+$/, '') + path, form),
    );
    const parsed = answer.safeParse(body);
    if (status !== 200 || !parsed.success || parsed.data.code !== 200) {
      // Only the code: the message may repeat what was sent.
      throw new Error(`RongCloud: ${path} failed (HTTP status ${status}, code ${parsed.data?.code ?? 'missing'})`);
    }
    return parsed.data;
  }
}

function sameProfile(kept: KeptToken, user: MessagingUser): boolean {
  return kept.nickname === user.nickname && kept.portraitUri === user.portraitUri;
}

/** An empty portrait is left out: RongCloud does not promise to accept one. */
function profileForm({ id, nickname, portraitUri }: MessagingUser): URLSearchParams {
  return new URLSearchParams({ userId: id, name: nickname, ...(portraitUri === '' ? {} : { portraitUri }) });
}

function signedHeaders(appKey: string, appSecret: string): Record<string, string> {
  const nonce = randomBytes(8).toString('hex');
  const timestamp = String(Date.now());
  const signature = createHash('sha1')
    .update(appSecret + nonce + timestamp)
    .digest('hex');
  return { 'App-Key': appKey, Nonce: nonce, Timestamp: timestamp, Signature: signature };
}
