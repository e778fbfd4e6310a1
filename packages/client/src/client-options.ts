import type { Schemas } from './operations.ts';
import type { ClientStorage } from './storage.ts';

export interface ClientOptions {
  /** Address of the service: `https://accounts.example.com`. The constructor throws if it is not a whole address. */
  baseUrl: string;
  /**
   * Allows `http://` to another machine, for a phone that tries a service in its own network. Everybody in between can
   * read passwords and cookies. Without this option the constructor throws.
   */
  allowHttp?: boolean | undefined;
  /** Where the jar keeps the cookies or tokens. Default: in memory, until a restart. */
  storage?: ClientStorage | undefined;
  /**
   * Keeper of the session. Default: a jar of cookies in Node; the platform in browsers and React Native, which keep
   * cookies. `bearer`: no cookies, but tokens in the storage, such as the keychain of a phone.
   */
  cookies?: 'platform' | 'jar' | 'bearer' | undefined;
  /**
   * Called without a session, or when it has ended. With credentials the client logs in and repeats the call;
   * without, the call is a 401.
   */
  credentials?: (() => MaybePromise<Schemas['Credentials'] | undefined>) | undefined;
  /**
   * Called when send_code requires a captcha, once per call. Returns what the user reads in the picture, the token of
   * the page, or the payload of ALTCHA's widget.
   */
  captcha?: ((captcha: Schemas['Captcha']) => MaybePromise<string | undefined>) | undefined;
  /** Longest wait for an answer to begin, or to continue. A whole answer may take 4 times that; sync and export, 40. */
  timeoutMs?: number | undefined;
  /** Maximum retries of a call without an answer, if docs/api.md says that a retry is safe. */
  repeats?: number | undefined;
  fetch?: typeof globalThis.fetch | undefined;
}

export type MaybePromise<T> = T | Promise<T>;
