import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SyncStore, type ClientStorage } from '../../packages/client/src/index.ts';
import { Choices } from '../support/choices';
import { codeOfKind } from '../support/code-blocks';
import { randomAnswer } from '../support/random-answers';
import { ROOT } from '../support/service-process';
import { sourceOf, stateOf, syncChanges } from '../support/synced';

const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8');
const block = codeOfKind(readme, 'ts').find((text) => text.includes('folderStorage')) ?? '';

describe("the file storage of the client's README", () => {
  const scratch = mkdtempSync(join(tmpdir(), 'accounts-folder-'));
  const kept = join(scratch, 'kept');
  let folderStorage: (folder: string) => ClientStorage;

  beforeAll(async () => {
    const file = join(scratch, 'folder-storage.ts');
    writeFileSync(file, block);
    ({ folderStorage } = (await import(file)) as { folderStorage: typeof folderStorage });
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  it('keeps its values, even many that are written at once', async () => {
    const storage = folderStorage(kept);
    expect(await storage.getItem('a:A')).toBeNull();
    await Promise.all(['a:A', 'a:a', 'a:[::1]:8585'].map((key) => storage.setItem(key, `${key} 😀\n`)));
    const long = ['x', 'y', 'z'].map((letter) => letter.repeat(40_000));
    await Promise.all(long.map((value) => storage.setItem('long', value)));
    const restarted = folderStorage(kept);
    expect(await restarted.getItem('a:A')).toBe('a:A 😀\n');
    expect(await restarted.getItem('a:a')).toBe('a:a 😀\n');
    expect(await restarted.getItem('a:[::1]:8585')).toBe('a:[::1]:8585 😀\n');
    expect(long).toContain(await restarted.getItem('long'));
    for (const key of ['a:A', 'a:a', 'a:[::1]:8585', 'long', 'a:A']) await storage.removeItem(key);
    expect(readdirSync(kept)).toEqual([]);
  });

  it('serves a store, and its files are readable only by their owner', async () => {
    const choices = new Choices(7);
    for (let version = 1; version <= 3; version += 1) {
      const source = sourceOf(() => randomAnswer(choices, version, { friends: 20, groups: 3, members: 300 }));
      const store = new SyncStore(source, { storage: folderStorage(kept) });
      await syncChanges(store);
      expect(await stateOf(new SyncStore(source, { storage: folderStorage(kept) }))).toEqual(await stateOf(store));
    }
    for (const name of readdirSync(kept)) expect(statSync(join(kept, name)).mode & 0o077).toBe(0);
    expect(statSync(kept).mode & 0o077).toBe(0);
  });

  it('throws when it cannot read', async () => {
    const storage = folderStorage(join(scratch, 'folder-storage.ts'));
    await expect(storage.getItem('a')).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
