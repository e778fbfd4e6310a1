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
  const done = before.then(() => (locks ? locks.request(name, job) : job()));
  line.set(
    name,
    done.catch(() => undefined),
  );
  return done;
}

/** Node has some too, which say nothing of what processes share. */
function webLocks(): WebLocks | undefined {
  const { document, navigator } = globalThis as { document?: unknown; navigator?: { locks?: WebLocks } };
  return document === undefined ? undefined : navigator?.locks;
}
