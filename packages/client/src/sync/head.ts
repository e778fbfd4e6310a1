import type { ClientStorage } from '../storage.ts';
import type { SyncUser } from './rows.ts';
import type { Spooled } from './spool.ts';
import { newToken } from './token.ts';

/** What a store knows of its tables. */
export interface Head {
  /** Another one with each write, by which a store notices that another one has written. */
  revision: string;
  version: number;
  names: boolean;
  user?: SyncUser | undefined;
  /** An answer that is being folded in. After a crash it is folded in again. */
  folding?: Spooled | undefined;
  /** Everything is being removed; after a crash it goes on. */
  clearing?: boolean | undefined;
}

export async function readHead(storage: ClientStorage, key: string): Promise<Head | undefined> {
  const text = await storage.getItem(key);
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as Head;
  } catch {
    return undefined;
  }
}

export async function writeHead(storage: ClientStorage, key: string, head: Omit<Head, 'revision'>): Promise<Head> {
  const written = { ...head, revision: newToken() };
  await storage.setItem(key, JSON.stringify(written));
  return written;
}
