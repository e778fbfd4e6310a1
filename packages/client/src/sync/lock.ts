import { isNode } from '../platform.ts';
import type { ClientStorage } from '../storage.ts';

interface WebLocks {
  request<T>(name: string, job: () => Promise<T>): Promise<T>;
}

const lines = new WeakMap<ClientStorage, Map<string, Promise<unknown>>>();

/** Runs jobs of one name one at a time, for all users of the storage object; in browsers, for all tabs that share it. */
export function alone<T>(storage: ClientStorage, name: string, job: () => Promise<T>): Promise<T> {
  const line = lines.get(storage) ?? new Map<string, Promise<unknown>>();
  lines.set(storage, line);
  const { sharedAs = 'storage' } = storage;
  const locks = sharedAs === '' ? undefined : webLocks();
  const before = line.get(name) ?? Promise.resolve();
  const done = before.then(() => (locks ? locks.request(`user-account-service:${sharedAs}:${name}`, job) : job()));
  line.set(
    name,
    done.catch(() => undefined),
  );
  return done;
}

/** Returns the locks of pages and workers. Node's locks are not used: they do not cover other processes. */
function webLocks(): WebLocks | undefined {
  const { navigator } = globalThis as { navigator?: { locks?: WebLocks } };
  return isNode() ? undefined : navigator?.locks;
}
