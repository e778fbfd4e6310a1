import type { ClientStorage } from './storage.ts';

/** The session and the device. In production their prefix binds them to their host, and to HTTPS. */
const SESSION = ['sid', '__Host-sid'];
const NAMES = [...SESSION, 'device', '__Host-device'];

/** Keeps the service's two cookies where the platform does not. */
export class CookieJar {
  readonly #storage: ClientStorage;
  readonly #host: string;
  readonly #names: string[];

  constructor(storage: ClientStorage, { host, protocol }: Pick<URL, 'host' | 'protocol'>) {
    const isSecure = protocol === 'https:';
    this.#storage = storage;
    this.#host = host;
    this.#names = NAMES.filter((name) => isSecure || !name.startsWith('__Host-'));
  }

  /** Returns the cookies as a request sends them. */
  async headers(): Promise<Record<string, string>> {
    const pairs: string[] = [];
    for (const name of this.#names) {
      const value = await this.#storage.getItem(this.#keyOf(name));
      if (value !== null) pairs.push(`${name}=${value}`);
    }
    return pairs.length > 0 ? { Cookie: pairs.join('; ') } : {};
  }

  async keep(headers: Headers): Promise<void> {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
      if (!this.#names.includes(name)) continue;
      if (value === '' || hasExpired(attributes)) await this.#storage.removeItem(this.#keyOf(name));
      else await this.#storage.setItem(this.#keyOf(name), value);
    }
  }

  async hasSession(): Promise<boolean> {
    const sent = (await this.headers()).Cookie ?? '';
    return SESSION.some((name) => sent.startsWith(`${name}=`));
  }

  /** The service itself removes the cookie of a session that has ended. */
  async forget(): Promise<void> {}

  /** Includes the host: a storage may serve several services, and one must not get the cookies of another. */
  #keyOf(name: string): string {
    return `cookie:${this.#host}:${name}`;
  }
}

function hasExpired(attributes: string): boolean {
  const [, expires] = /;\s*expires=([^;]*)/i.exec(attributes) ?? [];
  const [, maxAge] = /;\s*max-age=(-?\d+)/i.exec(attributes) ?? [];
  if (maxAge !== undefined) return Number(maxAge) <= 0;
  return expires !== undefined && Date.parse(expires) <= Date.now();
}
