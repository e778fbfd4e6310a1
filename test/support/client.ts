import { inspect } from 'node:util';
import { Client, memoryStorage, type ClientOptions, type ClientStorage } from '../../packages/client/src/index.ts';
import type { TestApp } from './app';
import type { Person } from './people';
import { PATIENT_MS } from './patience';
import { rememberSecret } from './secrets';

/** Returns a client of the package for a test's service. The logs are searched for the sessions that it stores. */
export function clientOf({ url }: Pick<TestApp, 'url'>, options: Partial<ClientOptions> = {}): Client {
  return new Client({
    baseUrl: url,
    timeoutMs: PATIENT_MS,
    ...options,
    storage: rememberingStorage(options.storage ?? memoryStorage()),
  });
}

export async function signedInClient(
  app: Pick<TestApp, 'url'>,
  person: Person,
  options: Partial<ClientOptions> = {},
): Promise<Client> {
  const client = clientOf(app, options);
  const login = await client.call('/user/login', credentialsOf(person));
  if (!login.ok) throw new Error(`login: ${inspect(login)}`);
  rememberSecret(login.result.token);
  return client;
}

export function credentialsOf({ region, phone, password }: Person) {
  return { region, phone, password };
}

function rememberingStorage(storage: ClientStorage): ClientStorage {
  return {
    getItem: (key) => storage.getItem(key),
    setItem: (key, value) => storage.setItem(key, /^(cookie|token):/.test(key) ? rememberSecret(value) : value),
    removeItem: (key) => storage.removeItem(key),
  };
}
