import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SyncStore, memoryStorage } from '../../packages/client/src/index.ts';
import { amount } from '../support/amounts';
import { clientOf, credentialsOf, signedInClient } from '../support/client';
import { FaultProxy } from '../support/fault-proxy';
import type { SignedInPerson } from '../support/people';
import { ROOT, TYPESCRIPT } from '../support/service-process';
import { stage } from '../support/stage';
import { fullState } from '../support/sync';
import { MortalStorage, stateOf } from '../support/synced';

/** A group has 500 members. TEST_LOAD=12.5 makes the full size, and prints what it takes. */
const LEAST = 20_000;
const MEMBERS = amount(20_000, LEAST);
const IN_GROUP = 500;

/** Far less than all members as objects: each is about 500 bytes. */
const MEGABYTES = 4;

describe('large answers in a store', () => {
  const { app, ann, bob } = stage({ people: 2, peopleOnce: true });
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'accounts-synced-'));
    await app.db.raw(
      `INSERT INTO users (id, nickname) SELECT 'crowd' || n, 'Crowd ' || n FROM generate_series(2, ${IN_GROUP}) n`,
    );
    const groups = MEMBERS / IN_GROUP;
    await insertGroups('anns', groups, ann);
    await insertGroups('bobs', 4, bob);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are handled in little memory', async () => {
    const told = { baseUrl: app.url, folder, credentials: credentialsOf(ann) };
    const script = join('test', 'support', 'sync-in-little-memory.ts');
    const child = spawn(process.execPath, ['--expose-gc', '--require', TYPESCRIPT, script, JSON.stringify(told)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const measured = JSON.parse(await text(child.stdout)) as Record<string, number>;
    if (MEMBERS > LEAST) process.stdout.write(`${JSON.stringify(measured)}\n`);
    expect(measured.members).toBe(MEMBERS);
    expect(measured.megabytes).toBeLessThan(MEGABYTES);
    expect(measured.longest).toBeLessThan(64 * 1_024);
  });

  it('leave the store unchanged if the answer breaks off, after any piece', async () => {
    let pieces = Infinity;
    let sent = 0;
    const cutting: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init);
      let count = 0;
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, to) => {
          if ((count += 1) > pieces) to.error(new TypeError('terminated'));
          else to.enqueue(piece);
          sent = count;
        },
      });
      return new Response(answer.body?.pipeThrough(cut), answer);
    };
    const client = await signedInClient(app, bob, { fetch: cutting });
    const storage = memoryStorage();
    const store = new SyncStore(client, { storage });
    for (pieces = 0; ; pieces += 1) {
      const answer = await store.sync();
      if (answer.ok) break;
      expect(answer.reason).toBe('network');
      expect(await store.version()).toBe(0);
      expect(await store.groups()).toEqual([]);
    }
    expect(sent).toBeGreaterThan(5);
    expect(await stateOf(store)).toEqual(await fullState(bob));
  });

  it('arrive completely over a bad connection, with a new process each time', async () => {
    const proxy = await FaultProxy.start(app.url);
    const url = proxy.url.replace(/\/$/, '');
    const cookies = memoryStorage();
    await signedInClient({ url }, ann, { storage: cookies });
    const values = new Map<string, string>();
    /** Breaks the connection after this number of chunks. */
    const syncUntil = (chunks: number) => {
      const storage = new MortalStorage(values);
      const set = storage.setItem.bind(storage);
      storage.setItem = async (key, value) => {
        if (key.startsWith('sync:spool:') && (chunks -= 1) === 0) proxy.cut();
        await set(key, value);
      };
      return new SyncStore(clientOf({ url }, { storage: cookies, repeats: 0 }), { storage }).sync();
    };
    try {
      for (const chunks of [1, 2, 5, 10])
        expect(await syncUntil(chunks)).toMatchObject({ ok: false, reason: 'network' });
      expect(await syncUntil(Infinity)).toMatchObject({ ok: true });
      const store = new SyncStore(clientOf(app, { storage: cookies }), { storage: new MortalStorage(values) });
      expect(await stateOf(store)).toEqual(await fullState(ann));
    } finally {
      await proxy.close();
    }
  });

  async function insertGroups(name: string, count: number, owner: SignedInPerson): Promise<void> {
    await app.db.raw(
      `INSERT INTO groups (id, name, creator_id) SELECT ? || n, 'Group ' || n, ? FROM generate_series(1, ?) n`,
      [name, owner.id, count],
    );
    // Inserts ten groups per statement, since statements have a time limit.
    for (let first = 1; first <= count; first += 10)
      await app.db.raw(
        `INSERT INTO group_members (group_id, member_id)
           SELECT ? || g, 'crowd' || n FROM generate_series(?::int, ?::int) g, generate_series(2, ${IN_GROUP}) n
           UNION ALL SELECT ? || g, ? FROM generate_series(?::int, ?::int) g`,
        [name, first, Math.min(first + 9, count), name, owner.id, first, Math.min(first + 9, count)],
      );
  }
});
