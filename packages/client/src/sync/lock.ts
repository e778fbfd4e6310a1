import { isNode } from '../platform.ts';
import type { ClientStorage } from '../storage.ts';

interface WebLocks {
  request<T>(name: string, job: () => Promise<T>): Promise<T>;
}

const lines = new WeakMap<ClientStorage, Map<string, Promise<unknown>>>();

/** One job of a name at a time, for all who share the storage object; in browsers, for all tabs. */
export function alone<T>(storage: ClientStorage, name: string, job: () => Promise<T>): Promise<T> {
  const line = lines.get(storage) ?? new Map<string, Promise<unknown>>();
  lines.set(storage, line);
  const locks = webLocks();
  const before = line.get(name) ?? Promise.resolve();
  const done = before.then(() => (locks ? locks.request(`user-account-service:${name}`, job) : job()));
  line.set(
    name,
    done.catch(() => undefined),
  );
  return done;
}

/** Of pages and workers. Node has some too, which say nothing of what processes share. */
function webLocks(): WebLocks | undefined {
  const { navigator } = globalThis as { navigator?: { locks?: WebLocks } };
  return isNode() ? undefined : navigator?.locks;
}
