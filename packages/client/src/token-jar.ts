import { hostOf } from './base-url.ts';
import type { ClientStorage } from './storage.ts';

/** Headers with which the service sends the session and the device, and their names in the storage. */
const TOKENS = { 'X-Session-Token': 'session', 'X-Device-Token': 'device' };

/** Keeps the session and the device as tokens, and sends them in headers: without cookies. */
export class TokenJar {
  readonly #storage: ClientStorage;
  readonly #host: string;

  constructor(storage: ClientStorage, baseUrl: Pick<URL, 'href'>) {
    this.#storage = storage;
    this.#host = hostOf(baseUrl);
  }

  async headers(): Promise<Record<string, string>> {
    const [session, device] = await Promise.all([this.#get('session'), this.#get('device')]);
    return {
      'X-Session': 'bearer',
      ...(session !== null && { Authorization: `Bearer ${session}` }),
      ...(device !== null && { 'X-Device-Token': device }),
    };
  }

  /** Keeps the tokens of an answer. A renewed token that was sent is kept already, and must not replace a newer one. */
  async keep(headers: Headers, sent: Record<string, string>): Promise<void> {
    for (const [header, name] of Object.entries(TOKENS)) {
      const token = headers.get(header);
      if (token !== null && sent.Authorization !== `Bearer ${token}`)
        await this.#storage.setItem(this.#keyOf(name), token);
    }
  }

  async hasSession(): Promise<boolean> {
    return (await this.#get('session')) !== null;
  }

  /** Forgets the session. The device stays: it helps at the next login. */
  async forget(): Promise<void> {
    await this.#storage.removeItem(this.#keyOf('session'));
  }

  async #get(name: string): Promise<string | null> {
    return this.#storage.getItem(this.#keyOf(name));
  }

  /** Includes the host: a storage may serve several services, and one must not get the tokens of another. */
  #keyOf(name: string): string {
    return `token:${this.#host}:${name}`;
  }
}
