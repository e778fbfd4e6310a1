import type { Answer, Failure } from './answer.ts';
import type { Schemas } from './operations.ts';
import { isUnknown } from './repeating.ts';

type Credentials = Schemas['Credentials'];

/** Logs in when the session has ended: once for all calls that notice, and never again with refused credentials. */
export class Relogin {
  /** Number of successful logins. */
  count = 0;
  readonly #ask: () => Promise<Credentials | undefined>;
  readonly #logIn: (credentials: Credentials) => Promise<Answer<unknown>>;
  #underWay: Promise<Answer<unknown> | undefined> | undefined;
  /** Credentials that the last login was refused with, and the answer. */
  #refused: { credentials: Credentials; answer: Failure } | undefined;

  constructor(
    ask: () => Promise<Credentials | undefined>,
    logIn: (credentials: Credentials) => Promise<Answer<unknown>>,
  ) {
    this.#ask = ask;
    this.#logIn = logIn;
  }

  /** Logs in again. Returns undefined without credentials. */
  again(): Promise<Answer<unknown> | undefined> {
    this.#underWay ??= this.#useCredentials().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  /** Counts each successful login, by this class or not. */
  succeeded(): void {
    this.count += 1;
    this.#refused = undefined;
  }

  async #useCredentials(): Promise<Answer<unknown> | undefined> {
    const credentials = await this.#ask();
    // An app may return the fields of a form that its user has not filled in yet.
    if (!credentials?.phone || !credentials.password) return undefined;
    // Each attempt would count as a wrong password, and few of them are allowed per day.
    if (this.#refused && isSame(this.#refused.credentials, credentials)) return this.#refused.answer;
    const answer = await this.#logIn(credentials);
    const isFinal = !answer.ok && !isUnknown(answer) && answer.retryAfter === undefined;
    this.#refused = isFinal ? { credentials: { ...credentials }, answer } : undefined;
    return answer;
  }
}

function isSame(one: Credentials, other: Credentials): boolean {
  return one.region === other.region && one.phone === other.phone && one.password === other.password;
}
