import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, SyncStore, type ClientStorage } from '../../packages/client/src/index.ts';
import { PATIENT_MS } from './patience';

/** A process started with --expose-gc: synchronises, and reports how much memory it held in that time. */
const { baseUrl, folder, credentials } = JSON.parse(process.argv[2] ?? '{}') as {
  baseUrl: string;
  folder: string;
  credentials: { region: number; phone: number; password: string };
};
const EVERY = 40;

let writes = 0;
let most = 0;
let longest = 0;

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Stores each value in a file. */
const storage: ClientStorage = {
  getItem: (key) => {
    try {
      return readFileSync(join(folder, key), 'utf8');
    } catch {
      return null;
    }
  },
  setItem: (key, value) => {
    writes += 1;
    longest = Math.max(longest, value.length);
    if (writes % EVERY === 0) most = Math.max(most, heap());
    writeFileSync(join(folder, key), value);
  },
  removeItem: (key) => rmSync(join(folder, key), { force: true }),
};

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const client = new Client({ baseUrl, timeoutMs: PATIENT_MS });
  const login = await client.call('/user/login', credentials);
  if (!login.ok) throw new Error(login.message);
  const store = new SyncStore(client, { storage });
  const before = heap();
  const begun = performance.now();
  const synced = await store.sync();
  if (!synced.ok) throw new Error(`${synced.reason}: ${synced.message}`);
  const seconds = (performance.now() - begun) / 1_000;
  let members = 0;
  for (const { group } of await store.groups()) members += (await store.members(group.id)).length;
  process.stdout.write(JSON.stringify({ members, megabytes: (most - before) / 2 ** 20, seconds, writes, longest }));
}

void main();
