import type { ClientStorage, StoreChanges, SyncSource, SyncStore } from '../../packages/client/src/index.ts';
import type { SyncResult, SyncState } from './folding-client';

/** Returns the state of a store of packages/client, in FoldingClient's form. */
export async function stateOf(store: SyncStore): Promise<SyncState> {
  const groups = await store.groups();
  return {
    user: await store.user(),
    blacklist: await store.blacklist(),
    friends: await store.friends(),
    groups: await Promise.all(
      groups.map(async (membership) => ({ ...membership, members: await store.members(membership.group.id) })),
    ),
  };
}

/** Returns the changes of a sync, which has to succeed. */
export async function syncChanges(store: SyncStore): Promise<StoreChanges> {
  const answer = await store.sync();
  if (!answer.ok) throw new Error(`sync: ${answer.reason}: ${answer.message}`);
  return answer.result;
}

/** Returns answers without a service, each in pieces of this length. */
export function sourceOf(answer: (version: number) => SyncResult, pieceLength = 1_000): SyncSource {
  return {
    changesSince: async (version) => {
      const text = textOf(answer(version));
      return { ok: true, result: inPieces(text, pieceLength), requestId: undefined };
    },
  };
}

export function textOf(result: SyncResult): string {
  return JSON.stringify({ code: 200, result });
}

export async function* inPieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

/** Values that outlive a crash of their user: the process dies at its `dieAt`th access. */
export class MortalStorage implements ClientStorage {
  accesses = 0;
  longest = 0;

  constructor(
    readonly values = new Map<string, string>(),
    private readonly dieAt = Infinity,
  ) {}

  async getItem(key: string): Promise<string | null> {
    this.countAccess();
    return this.values.get(key) ?? null;
  }

  async setItem(key: string, value: string): Promise<void> {
    this.countAccess();
    this.values.set(key, value);
    this.longest = Math.max(this.longest, value.length);
  }

  async removeItem(key: string): Promise<void> {
    this.countAccess();
    this.values.delete(key);
  }

  private countAccess(): void {
    this.accesses += 1;
    if (this.accesses > this.dieAt) throw new Error('the process has died');
  }
}
