import type { Answer, Failure } from './answer.ts';
import type { Schemas } from './operations.ts';
import { isUnknown } from './repeating.ts';

type Credentials = Schemas['Credentials'];

/** Logs in when the session has ended: once for all who find it out, and not again with what was refused. */
export class Relogin {
  /** How many logins have succeeded. */
  count = 0;
  readonly #ask: () => Promise<Credentials | undefined>;
  readonly #logIn: (credentials: Credentials) => Promise<Answer<unknown>>;
  #underWay: Promise<Answer<unknown> | undefined> | undefined;
  /** What the last login was refused for. */
  #refused: { credentials: Credentials; answer: Failure } | undefined;

  constructor(
    ask: () => Promise<Credentials | undefined>,
    logIn: (credentials: Credentials) => Promise<Answer<unknown>>,
  ) {
    this.#ask = ask;
    this.#logIn = logIn;
  }

  /** Undefined when there are no credentials. */
  again(): Promise<Answer<unknown> | undefined> {
    this.#underWay ??= this.#useCredentials().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  /** Told of each login that has succeeded, whoever has asked for it. */
  succeeded(): void {
    this.count += 1;
    this.#refused = undefined;
  }

  async #useCredentials(): Promise<Answer<unknown> | undefined> {
    const credentials = await this.#ask();
    if (credentials === undefined) return undefined;
    // Each time would be one more wrong password, of which a day has few.
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
