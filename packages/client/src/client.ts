import { addressed } from './addressed.ts';
import { BrokenOff, failure, type Answer, type Failure } from './answer.ts';
import { isReadable, parsedBaseUrl } from './base-url.ts';
import type { ClientOptions, MaybePromise } from './client-options.ts';
import { CookieJar } from './cookie-jar.ts';
import { exchange, type Reply } from './exchange.ts';
import { formOf, UPLOAD, UPLOAD_TIMES, uploadedAt, type ImageFile, type UploadedImage } from './images.ts';
import type { CallArguments, OperationPath, ResultOf, Schemas } from './operations.ts';
import { isNode } from './platform.ts';
import { readAnswer, readUpload, requestIdOf } from './read-answer.ts';
import type { CallReason, SyncReason, UploadReason, WithoutLogin } from './reasons.ts';
import { Relogin } from './relogin.ts';
import { isUnknown, repeating } from './repeating.ts';
import { Session, type SessionListener } from './session.ts';
import { memoryStorage } from './storage.ts';
import { TokenJar } from './token-jar.ts';
import type { FollowingCall } from './sync/following.ts';
import type { AskedChanges, KeptStore, SyncSource } from './sync/source.ts';

/** A request, and how its answer is read. */
interface Request<Result> {
  path: OperationPath;
  input: Record<string, unknown>;
  read: (reply: Reply) => Promise<Answer<Result>>;
  /** Set by a store that follows. */
  following?: FollowingCall | undefined;
}

const LOGIN = '/user/login';
/** Operations that begin a session. */
const BEGINS = new Set<OperationPath>([LOGIN, '/user/login_by_token', '/user/register_by_token']);
const LOGOUT = '/user/logout';
const CHECK = '/user/sessions/check';
const SYNC = '/user/sync/{version}';
const BAD_REQUEST = 400;
const NOT_SIGNED_IN = 'not_signed_in';
const JSON_BODY = { 'Content-Type': 'application/json' };

/** The service answers within about eight seconds. */
const TIMEOUT_MS = 15_000;
/** Operations that wait for a provider of codes, and the most that its time adds. */
const ASKS_PROVIDER = new Set<OperationPath>(['/user/send_code', '/user/verify_code']);
const PROVIDER_MS = 15_000;
const REPEATS = 2;

/** Operations with long answers. All others are short. */
const LARGE = new Set<OperationPath>([SYNC, '/user/export']);

/** Operations for which the client does not log in: without a session they end with a 401. */
const WITHOUT_SESSION = new Set<OperationPath>([LOGIN, LOGOUT] satisfies WithoutLogin[]);

/** Operations after which the stores are cleared. */
const ENDS = new Set<OperationPath>([LOGOUT, '/user/close_account']);

/** Reasons of send_code that a solved captcha resolves. */
const CAPTCHA_REASONS = new Set(['captcha_required', 'captcha_missing']);

/** Calls the operations of the service. No call throws: failures are in the answer. */
export class Client implements SyncSource<SyncReason> {
  readonly #baseUrl: string;
  readonly #options: ClientOptions;
  readonly #jar: CookieJar | TokenJar | undefined;
  readonly #logins: Relogin;
  readonly #session: Session;
  readonly #stores = new Set<KeptStore>();
  /** The last call that was to end the session. */
  #ending: Promise<unknown> | undefined;

  constructor(options: ClientOptions) {
    const url = parsedBaseUrl(options.baseUrl);
    if (isReadable(url) && !options.allowHttp)
      throw new TypeError(`baseUrl: passwords could be read on the way to ${url.href}: use https://, or set allowHttp`);
    this.#baseUrl = url.href.replace(/\/+$/, '');
    this.#options = options;
    const cookies = options.cookies ?? (isNode() ? 'jar' : 'platform');
    const Jar = { platform: undefined, jar: CookieJar, bearer: TokenJar }[cookies];
    this.#jar = Jar && new Jar(options.storage ?? memoryStorage(), url);
    this.#logins = new Relogin(
      () => given(() => options.credentials?.()),
      (credentials) => this.call(LOGIN, credentials),
    );
    this.#session = new Session(cookies === 'platform' ? this.#baseUrl : undefined, (event) => {
      if (event === 'began') this.#logins.succeeded();
      // If the storage fails here, the next sync reports it.
      else this.#clearStores().catch(() => undefined);
    });
  }

  /** Whether a user is signed in; undefined until the first login, sync, check or refusal. */
  get isSignedIn(): boolean | undefined {
    return this.#session.isOn;
  }

  /** Tells the listener when a session begins or ends, here or elsewhere. Call the returned function to stop. */
  onSession(listener: SessionListener): () => void {
    return this.#session.onEvent(listener);
  }

  /** Ends the session, if it has not ended yet, and clears the stores made with this client. */
  async logout(): Promise<Answer<undefined, CallReason<typeof LOGOUT>>> {
    const answer = await this.call(LOGOUT);
    if (answer.ok || answer.reason !== NOT_SIGNED_IN) return answer;
    return { ok: true, result: undefined, requestId: answer.requestId };
  }

  /** Closes the stores made with this client, and stops listening to other tabs. */
  close(): void {
    for (const store of this.#stores) store.close();
    this.#session.close();
  }

  /** Calls an operation: `call('/user/login', { region: 44, phone: '7911123456', password })`. */
  call<Path extends OperationPath>(
    path: Path,
    ...[input]: CallArguments<Path>
  ): Promise<Answer<ResultOf<Path>, CallReason<Path>>> {
    const answer = this.#call({ path, input: input ?? {}, read: readAnswer });
    return answer as Promise<Answer<ResultOf<Path>, CallReason<Path>>>;
  }

  /** Asks for changes, for a SyncStore. */
  changesSince(
    version: number,
    { names, following }: AskedChanges,
  ): Promise<Answer<AsyncIterable<string>, SyncReason>> {
    const wait = following?.wait;
    const input = { version, ...(names && { names }), ...(wait && { wait }) };
    const answer = this.#asked({ path: SYNC, input, read: begunOrRefused, following });
    return answer as Promise<Answer<AsyncIterable<string>, SyncReason>>;
  }

  /** Adds a SyncStore, which a logout then clears. Call the returned function to stop that. */
  addStore(store: KeptStore): () => void {
    this.#stores.add(store);
    return () => this.#stores.delete(store);
  }

  /** Uploads an image and returns its address, for a portrait. Without a key it is named by its content. */
  async uploadImage(
    image: ImageFile,
    { key }: { key?: string | undefined } = {},
  ): Promise<Answer<UploadedImage, UploadReason>> {
    const granted = await this.call('/user/get_image_token');
    if (!granted.ok) return granted;
    const { domain, token } = granted.result;
    const form = formOf(image, token, key);
    const answer = await repeating(UPLOAD, this.#repeats, () => this.#upload(form));
    if (!answer.ok || answer.result === undefined) return answer as Answer<never, UploadReason>;
    return { ...answer, result: uploadedAt(domain, answer.result) };
  }

  /** Uploads an image and makes it the user's portrait. */
  async setPortrait(image: ImageFile): Promise<Answer<UploadedImage, UploadReason>> {
    const uploaded = await this.uploadImage(image);
    if (!uploaded.ok) return uploaded;
    const set = await this.call('/user/set_portrait_uri', { portraitUri: uploaded.result.url });
    return set.ok ? uploaded : set;
  }

  async #call(request: Request<unknown>): Promise<Answer<unknown>> {
    const answer = await this.#asked(request);
    if (request.path !== '/user/send_code' || answer.ok || !CAPTCHA_REASONS.has(answer.reason)) return answer;
    const solved = await this.#solvedCaptcha();
    return solved ? this.#asked({ ...request, input: { ...request.input, ...solved } }) : answer;
  }

  async #solvedCaptcha(): Promise<{ verifyId: string; verifyCode: string } | undefined> {
    if (!this.#options.captcha) return undefined;
    const captcha = await this.call('/user/get_sms_img_code');
    if (!captcha.ok) return undefined;
    const verifyCode = await given(() => this.#options.captcha?.(captcha.result));
    return verifyCode === undefined ? undefined : { verifyId: captcha.result.verifyId, verifyCode };
  }

  async #asked<Result>(request: Request<Result>): Promise<Answer<Result | undefined>> {
    const { path } = request;
    const asking = this.#inSession(request);
    if (ENDS.has(path)) this.#ending = asking;
    const answer = await asking;
    const hasEnded = answer.ok ? ENDS.has(path) : path === LOGOUT && answer.reason === NOT_SIGNED_IN;
    if (answer.ok && (path === SYNC || path === CHECK)) this.#session.found(path === SYNC || answer.result === true);
    if (answer.ok && BEGINS.has(path)) {
      this.#logins.succeeded();
      this.#session.began();
    }
    if (!hasEnded) return answer;
    this.#session.ended();
    return caught(async () => {
      await this.#jar?.forget();
      await this.#clearStores();
      return answer;
    });
  }

  async #clearStores(): Promise<void> {
    await Promise.all([...this.#stores].map((store) => store.clear()));
  }

  /** Makes the request, and retries it in a new session if the session has ended. */
  async #inSession<Result>(request: Request<Result>): Promise<Answer<Result | undefined>> {
    // A store that follows repeats by itself.
    const repeats = request.following ? 0 : this.#repeats;
    const ask = () => repeating(request.path, repeats, () => this.#ask(request));
    const { count } = this.#logins;
    const answer = (await this.#refusedBefore(request, repeats)) ?? (await ask());
    if (answer.ok || answer.reason !== NOT_SIGNED_IN || WITHOUT_SESSION.has(request.path)) return answer;
    if (count !== this.#logins.count) return ask();
    // It does not log in: a logout may have ended the session. One that is under way is told as such.
    const login = request.following ? void (await this.#ending) : await this.#logins.again();
    if (login?.ok) return ask();
    this.#session.found(false);
    // A 400 names fields of the credentials, not of this call.
    return login === undefined || login.code === BAD_REQUEST ? answer : login;
  }

  /**
   * Refuses the first sync of a store without a session: browsers write each 401 to their console. Returns
   * undefined for other calls, with a session, and when the service does not say.
   */
  async #refusedBefore({ path, input }: Request<unknown>, repeats: number): Promise<Failure | undefined> {
    if (path !== SYNC || input.version !== 0 || this.#session.isOn) return undefined;
    const jar = this.#jar;
    const check = { path: CHECK, input: {}, read: readAnswer } as const;
    const has = jar
      ? await caught<unknown>(async () => ({ ok: true, result: await jar.hasSession(), requestId: undefined }))
      : await repeating(CHECK, repeats, () => this.#ask(check));
    if (!has.ok) return isUnknown(has) ? has : undefined;
    return has.result === false ? failure(NOT_SIGNED_IN, 'no user is signed in', { code: 401 }) : undefined;
  }

  async #ask<Result>({ path, input, read, following }: Request<Result>): Promise<Answer<Result>> {
    const sent = addressed(path, input);
    if (!sent) return failure('invalid_input', 'the input cannot be sent', { code: BAD_REQUEST });
    const { address, body } = sent;
    return caught(async () => {
      const own = (await this.#jar?.headers()) ?? {};
      const init: RequestInit = {
        method: 'POST',
        headers: { ...(body !== '{}' && JSON_BODY), ...own },
        ...(body !== '{}' && { body }),
        // The session goes only to the service.
        redirect: 'error',
        ...(!this.#jar && { credentials: 'include' }),
        ...(this.#jar instanceof TokenJar && { credentials: 'omit' }),
      };
      const { wait = 0, signal } = following ?? {};
      const waitMs = 1_000 * wait + (ASKS_PROVIDER.has(path) ? PROVIDER_MS : 0);
      const limits = { timeoutMs: this.#timeoutMs, waitMs, isLarge: LARGE.has(path), signal };
      const reply = await exchange(this.#fetch, this.#baseUrl + address, init, limits);
      await this.#jar?.keep(reply.headers, own);
      return read(reply);
    });
  }

  /** Sends no cookies: the token is in the form, and the upload may be redirected to another host. */
  #upload(form: FormData): Promise<Answer<Schemas['StoredImage']>> {
    const init: RequestInit = { method: 'POST', body: form, credentials: 'omit' };
    const limits = { timeoutMs: UPLOAD_TIMES * this.#timeoutMs };
    return caught(async () => readUpload(await exchange(this.#fetch, this.#baseUrl + UPLOAD, init, limits)));
  }

  get #fetch(): typeof globalThis.fetch {
    const { fetch = globalThis.fetch } = this.#options;
    return fetch;
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS;
  }

  get #repeats(): number {
    return this.#options.repeats ?? REPEATS;
  }
}

/** Returns undefined if the app's callback throws. */
async function given<T>(ask: () => MaybePromise<T | undefined>): Promise<T | undefined> {
  try {
    return (await ask()) ?? undefined;
  } catch {
    return undefined;
  }
}

async function begunOrRefused(reply: Reply): Promise<Answer<AsyncIterable<string>>> {
  if (reply.status !== 200) return (await readAnswer(reply)) as Failure;
  return { ok: true, result: reply.texts, requestId: requestIdOf(reply) };
}

async function caught<Result>(ask: () => Promise<Answer<Result>>): Promise<Answer<Result>> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof BrokenOff) return failure(error.reason, error.message, { code: error.code });
    return failure('storage', 'the storage of the session, or of a store, has failed');
  }
}
