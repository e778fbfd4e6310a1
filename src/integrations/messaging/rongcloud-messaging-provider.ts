import { createHash, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Breaker } from '../../load/breaker';
import type { CallObserver } from '../calls';
import { NoAnswerInTime, postForm } from '../post-form';
import { SharedCalls } from '../../load/shared-calls';
import type { Asker, MessagingProvider, MessagingUser } from './messaging-provider';

/** A token, and the profile that was last sent to RongCloud. */
export interface KeptToken {
  token: string;
  nickname: string;
  portraitUri: string;
}

/** Stored state for an asker. A round lasts until the user's tokens end. */
export interface FoundToken {
  round: number;
  kept: KeptToken | undefined;
}

/**
 * Stores tokens, so that only a user's first login calls RongCloud. `app` stands for the credentials: a token is
 * worthless under others. Clients only get stored tokens.
 */
export interface KeptTokens {
  /** Returns undefined if the asker's session or password is no longer valid. */
  find(userId: string, app: string, asker: Asker): Promise<FoundToken | undefined>;
  get(userId: string, app: string): Promise<KeptToken | undefined>;
  /** Returns false if the round has ended, or another token is stored already. */
  add(userId: string, app: string, round: number, kept: KeptToken): Promise<boolean>;
  /** Stores the profile of this token. Returns false if the token is no longer stored. */
  refresh(userId: string, app: string, kept: KeptToken): Promise<boolean>;
}

export interface RongCloudOptions {
  appKey: string;
  appSecret: string;
  apiUrl: string;
  keptTokens: KeptTokens;
  timeoutMs?: number | undefined;
  observe?: CallObserver | undefined;
}

/** Maximum tries. One fails only if the user's tokens end, or another is stored, during the call to RongCloud. */
const TRIES = 5;

/** Shorter than the deadline of a request. */
const TIMEOUT_MS = 5_000;

const answer = z.object({ code: z.number(), token: z.string().min(1).optional() });

/**
 * Client of RongCloud's server API. Its tokens must not expire (the default of the app's console), since a stored token
 * is reused without asking RongCloud.
 */
export class RongCloudMessagingProvider implements MessagingProvider {
  private readonly app: string;
  private readonly breaker = new Breaker('RongCloud', (error) => error instanceof NoAnswerInTime);
  /** Calls in progress, shared since RongCloud counts and charges each. Each asker has a right to the round's token. */
  private readonly newTokens = new SharedCalls<string | undefined>();

  constructor(private readonly options: RongCloudOptions) {
    // Depends on the secret, since RongCloud drops all tokens of an app when its secret is renewed.
    this.app = createHmac('sha256', options.appSecret).update(options.appKey).digest('base64url').slice(0, 16);
  }

  async token(user: MessagingUser, asker: Asker): Promise<string | undefined> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const found = await this.options.keptTokens.find(user.id, this.app, asker);
      if (found === undefined) return undefined;
      const { round, kept } = found;
      const token = kept
        ? await this.keptToken(user, kept)
        : await this.newTokens.run(`${user.id} ${round}`, () => this.newToken(user, round));
      if (token !== undefined) return token;
    }
    throw new Error('RongCloud: the tokens of a user end faster than new ones are made');
  }

  /** Skips users without a token: RongCloud learns the profile with the first token. */
  async profileChanged(user: MessagingUser): Promise<void> {
    const kept = await this.options.keptTokens.get(user.id, this.app);
    if (kept !== undefined && !sameProfile(kept, user)) await this.refresh(user, kept);
  }

  async endTokens(userId: string, before: Date): Promise<void> {
    await this.call('/user/token/expire.json', new URLSearchParams({ userId, time: String(before.getTime()) }));
  }

  private async keptToken(user: MessagingUser, kept: KeptToken): Promise<string | undefined> {
    // A changed profile can wait for the next token.
    const isKept = sameProfile(kept, user) || (await this.refresh(user, kept).catch(() => true));
    return isKept ? kept.token : undefined;
  }

  /** Returns undefined if the token is not stored. It need not be ended, since no client gets it. */
  private async newToken(user: MessagingUser, round: number): Promise<string | undefined> {
    const { token } = await this.call('/user/getToken.json', profileForm(user));
    if (token === undefined) throw new Error('RongCloud: /user/getToken.json gave no token');
    const { id, nickname, portraitUri } = user;
    const isKept = await this.options.keptTokens.add(id, this.app, round, { token, nickname, portraitUri });
    return isKept ? token : undefined;
  }

  private async refresh(user: MessagingUser, { token }: KeptToken): Promise<boolean> {
    await this.call('/user/refresh.json', profileForm(user));
    const { id, nickname, portraitUri } = user;
    return this.options.keptTokens.refresh(id, this.app, { token, nickname, portraitUri });
  }

  private async call(path: string, fields: URLSearchParams): Promise<z.infer<typeof answer>> {
    const { appKey, appSecret, apiUrl, timeoutMs = TIMEOUT_MS, observe } = this.options;
    const form = { fields, headers: signedHeaders(appKey, appSecret), timeoutMs, observe };
    const { status, body } = await this.breaker.run(() =>
      postForm(`RongCloud: ${path}`, apiUrl.replace(/\/+$/, '') + path, form),
    );
    const parsed = answer.safeParse(body);
    if (status !== 200 || !parsed.success || parsed.data.code !== 200) {
      // Only the code: the message may repeat the request.
      throw new Error(`RongCloud: ${path} failed (HTTP status ${status}, code ${parsed.data?.code ?? 'missing'})`);
    }
    return parsed.data;
  }
}

function sameProfile(kept: KeptToken, user: MessagingUser): boolean {
  return kept.nickname === user.nickname && kept.portraitUri === user.portraitUri;
}

/** Leaves out an empty portrait: RongCloud does not promise to accept one. */
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
