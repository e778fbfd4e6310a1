import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { failure, type Answer } from '../../packages/client/src/answer.ts';
import { memoryStorage, SyncStore, type StoreChanges, type SyncSource } from '../../packages/client/src/index.ts';
import { amount } from '../support/amounts';
import { Choices } from '../support/choices';
import { FoldingClient, type SyncResult } from '../support/folding-client';
import { randomAnswer, type Sizes } from '../support/random-answers';
import { inPieces, MortalStorage, sourceOf, stateOf, syncChanges, textOf } from '../support/synced';

const seed = Number(process.env.SYNC_SEED ?? randomInt(2 ** 31));
const SMALL: Sizes = { friends: 6, groups: 3, members: 12 };
const LARGE: Sizes = { friends: 400, groups: 5, members: 900 };

const EMPTY: SyncResult = {
  version: 1,
  user: { id: 'ann', nickname: 'Ann', portraitUri: '', timestamp: 1 },
  blacklist: [],
  friends: [],
  groups: [],
  group_members: [],
};
const friend = (friendId: string, displayName = '') => ({ friendId, displayName, status: 20, timestamp: 1 });
const group = (id: string) => {
  return { displayName: '', role: 1, isDeleted: false, group: { id, name: id, portraitUri: '', timestamp: 1 } };
};
const member = (groupId: string, memberId: string) => {
  const user = { nickname: memberId, portraitUri: '' };
  return { groupId, memberId, displayName: '', role: 1, isDeleted: false, timestamp: 1, user };
};

const badAnswer = { ok: false, reason: 'bad_answer', code: 200 };

function given(texts: AsyncIterable<string>): Answer<AsyncIterable<string>> {
  return { ok: true, result: texts, requestId: undefined };
}

describe('a store that receives random answers', () => {
  let answer: SyncResult;
  let judge: FoldingClient;

  beforeEach(() => {
    answer = EMPTY;
    judge = new FoldingClient(async () => answer);
  });

  it.each([
    ['small', SMALL, amount(60)],
    ['large', LARGE, amount(25)],
  ])('holds the state that docs/sync.md describes (%s answers)', async (_size, sizes, count) => {
    const choices = new Choices(seed);
    const storage = new MortalStorage();
    for (let version = 1; version <= count; version += 1) {
      answer = randomAnswer(choices, version, sizes);
      await judge.sync();
      // Uses a new store each time: its state is in the storage.
      await syncChanges(
        new SyncStore(
          sourceOf(() => answer, 1 + choices.numberBelow(300)),
          { storage },
        ),
      );
      const held = await stateOf(
        new SyncStore(
          sourceOf(() => answer),
          { storage },
        ),
      );
      expect({ seed, version, held }).toEqual({ seed, version, held: judge.state() });
    }
    expect(storage.longest).toBeLessThan(64 * 1_024);
  });

  // guard sync-store-1: after a crash the client's store finishes an answer that it had begun to apply
  // packages/client/src/sync/store.ts
  // - await this.#head.write({ ...head, folding: spooled })
  // + head
  it('holds all of an answer or none of it, wherever the process dies', async () => {
    const choices = new Choices(seed);
    let values = new Map<string, string>();
    for (let version = 1; version <= 6; version += 1) {
      const before = judge.state();
      answer = randomAnswer(choices, version, version < 5 ? SMALL : { ...LARGE, members: 300 });
      await judge.sync();
      const after = judge.state();
      for (let dieAt = 0, isDone = false; !isDone; dieAt += 1) {
        const at = { seed, version, dieAt };
        const dying = new MortalStorage(new Map(values), dieAt);
        isDone = (
          await new SyncStore(
            sourceOf(() => answer),
            { storage: dying },
          ).sync()
        ).ok;
        const restarted = new SyncStore(
          sourceOf(() => answer),
          { storage: new MortalStorage(dying.values) },
        );
        const held = await stateOf(restarted);
        if (!isDeepStrictEqual(held, after)) expect({ at, held }).toEqual({ at, held: before });
        await syncChanges(restarted);
        expect({ at, held: await stateOf(restarted) }).toEqual({ at, held: after });
        expect([...dying.values.keys()]).not.toContainEqual(expect.stringContaining('spool'));
        if (isDone) values = dying.values;
      }
    }
  });

  // guard sync-store-6: the client's store does not accept half an answer as a whole one
  // packages/client/src/sync/spool.ts
  // - throw notJson(text)
  // + return { code: 200, result: { version: 9, user: { id: "ann" }, blacklist: [], friends: [], groups: [], group_members: [] } }
  it('applies nothing of a cut answer, wherever it is cut', async () => {
    const storage = new MortalStorage();
    await syncChanges(
      new SyncStore(
        sourceOf(() => ({ ...EMPTY, friends: [friend('bob')] })),
        { storage },
      ),
    );
    const before = new Map(storage.values);
    const text = textOf(randomAnswer(new Choices(seed), 7, { friends: 4, groups: 2, members: 4 }));
    for (let length = 0; length < text.length; length += 1) {
      const cut = { changesSince: async () => given(inPieces(text.slice(0, length), 50)) };
      const answer = await new SyncStore(cut, { storage }).sync();
      expect(answer).toMatchObject(length === 0 ? badAnswer : { ok: false, reason: 'network', code: 0 });
      expect({ length, values: storage.values }).toEqual({ length, values: before });
    }
  });

  it('rejects invalid answers of sync', async () => {
    const { version: _version, ...unversioned } = EMPTY;
    const { friends: _friends, ...friendless } = EMPTY;
    for (const text of [
      '',
      '<html>',
      '{"code":200}',
      JSON.stringify({ code: 200, result: unversioned }),
      JSON.stringify({ code: 200, result: friendless }),
      JSON.stringify({ code: 1000, result: EMPTY }),
      JSON.stringify({ code: 200, result: { ...EMPTY, friends: [{ displayName: 'nobody' }] } }),
      JSON.stringify({ code: 200, result: { ...EMPTY, friends: [7] } }),
      textOf({ ...EMPTY, friends: [friend('bob')] }).replace('}],"groups"', '},],"groups"'),
      textOf({ ...EMPTY, friends: [friend('bob')] }).replace('"friends":[', '"friends":[,'),
    ]) {
      const store = new SyncStore({ changesSince: async () => given(inPieces(text, 10)) });
      expect({ text, answer: await store.sync() }).toMatchObject({ text, answer: badAnswer });
      expect(await store.version()).toBe(0);
    }
  });

  it('ignores unknown fields and lists, and white space', async () => {
    const more = {
      ...EMPTY,
      friends: [{ ...friend('bob'), mood: ['fine'] }],
      calls: [{ at: [1, 2] }],
      place: { x: [1] },
    };
    const text = JSON.stringify({ server: [['a']], code: 200, result: more }, null, 2);
    const store = new SyncStore({ changesSince: async () => given(inPieces(text, 7)) });
    await syncChanges(store);
    expect(await store.friends()).toEqual(more.friends);
  });
});

describe('a store', () => {
  let answer: SyncResult;
  let asked: [version: number, names: boolean][];
  const source: SyncSource = {
    changesSince: (version, { names }) => {
      asked.push([version, names]);
      return sourceOf(() => answer).changesSince(version, { names });
    },
  };

  beforeEach(() => {
    answer = EMPTY;
    asked = [];
  });

  // guard sync-store-2: the client's store accepts a version that is lower than the previous one
  // packages/client/src/sync/store.ts
  // - head.version !== spooled.version
  // + head.version < spooled.version
  it('sends the version of the last answer, even a lower one from another life of the database', async () => {
    const store = new SyncStore(source);
    for (const version of [500, 20, 21]) {
      answer = { ...EMPTY, version };
      await syncChanges(store);
    }
    await syncChanges(store);
    expect(asked.map(([version]) => version)).toEqual([0, 500, 20, 21]);
  });

  // guard sync-store-3: the client's store does not apply another user's changes to its data
  // packages/client/src/sync/store.ts
  // - head.user === undefined || head.user.id === spooled.user.id
  // + head.version >= 0
  it('starts again when another user has logged in, and shows nothing of the previous user', async () => {
    const storage = new MortalStorage();
    answer = {
      ...EMPTY,
      version: 5,
      friends: [friend('bob')],
      groups: [group('g')],
      group_members: [member('g', 'ann')],
    };
    await syncChanges(new SyncStore(source, { storage }));
    const eve = { ...EMPTY.user, id: 'eve' };
    answer = { ...EMPTY, version: 6, user: eve, friends: [friend('cat')] };
    const store = new SyncStore(source, { storage });
    expect(await syncChanges(store)).toMatchObject({ everything: true, user: eve });
    expect(asked.map(([version]) => version)).toEqual([0, 5, 0]);
    expect(await stateOf(store)).toEqual({ user: eve, blacklist: [], friends: [friend('cat')], groups: [] });
    expect([...storage.values.values()].join()).not.toMatch(/bob|ann/);
  });

  // guard sync-store-7: the first successful sync on a storage reports that everything is new
  // packages/client/src/sync/store.ts
  // - if (head.user === undefined) this.#news.isEverything = true;
  it('reports at the first successful sync that everything is new, even after one that failed in another process', async () => {
    const storage = new MortalStorage();
    const refusal = failure('wrong_credentials', 'wrong', { code: 1000 });
    await new SyncStore({ changesSince: async () => refusal }, { storage }).sync();
    expect(storage.values).not.toEqual(new Map());
    const store = new SyncStore(source, { storage });
    expect(await syncChanges(store)).toMatchObject({ everything: true });
    expect(await syncChanges(store)).toMatchObject({ everything: false });
    expect(await syncChanges(new SyncStore(source, { storage }))).toMatchObject({ everything: false });
  });

  it('returns rows in the order of their ids', async () => {
    answer = { ...EMPTY, friends: ['b', 'Z', 'a_', 'a'].map((id) => friend(id)) };
    const store = new SyncStore(source);
    await syncChanges(store);
    expect((await store.friends()).map(({ friendId }) => friendId)).toEqual(['Z', 'a', 'a_', 'b']);
  });

  it('starts again when it is to keep names, and asks for them each time', async () => {
    const storage = new MortalStorage();
    await syncChanges(new SyncStore(source, { storage }));
    const store = new SyncStore(source, { storage, names: true });
    answer = { ...EMPTY, friends: [{ ...friend('bob'), user: { nickname: 'Bob', portraitUri: '' } }] };
    await syncChanges(store);
    await syncChanges(store);
    expect(asked).toEqual([
      [0, false],
      [0, true],
      [1, true],
    ]);
    expect(await store.friends()).toEqual(answer.friends);
  });

  it('sends one request for all concurrent syncs', async () => {
    const store = new SyncStore(source);
    await Promise.all([syncChanges(store), syncChanges(store), syncChanges(store)]);
    expect(asked).toHaveLength(1);
  });

  it('tells its listeners what has changed, and nothing else', async () => {
    const store = new SyncStore(source);
    const told: StoreChanges[] = [];
    const stop = store.onChange((changes) => void told.push(changes));
    const none = { put: [], removed: [] };
    const same = { everything: false, user: undefined, blacklist: none, friends: none, groups: none, members: [] };

    answer = {
      ...EMPTY,
      friends: [friend('bob'), friend('cat')],
      groups: [group('g'), group('h')],
      group_members: [member('g', 'ann'), member('h', 'ann')],
    };
    await syncChanges(store);
    expect(told.splice(0)).toEqual([
      {
        everything: true,
        user: EMPTY.user,
        blacklist: none,
        friends: { put: answer.friends, removed: [] },
        groups: { put: answer.groups, removed: [] },
        members: ['g', 'h'],
      },
    ]);
    // Rows may come twice.
    answer = { ...answer, version: 2 };
    await syncChanges(store);
    expect(told).toEqual([]);

    answer = {
      ...EMPTY,
      version: 3,
      blacklist: [{ friendId: 'cat', status: true, timestamp: 3 }],
      friends: [friend('bob', 'Bobby'), { ...friend('cat'), status: 30 }, { ...friend('dan'), status: 30 }],
      groups: [{ ...group('h'), isDeleted: true }],
      group_members: [member('g', 'bob'), member('h', 'eve')],
    };
    await syncChanges(store);
    expect(told.splice(0)).toEqual([
      {
        ...same,
        blacklist: { put: answer.blacklist, removed: [] },
        friends: { put: [friend('bob', 'Bobby')], removed: ['cat'] },
        groups: { put: [], removed: ['h'] },
        members: ['g'],
      },
    ]);
    stop();
    answer = { ...EMPTY, version: 4, user: { ...EMPTY.user, nickname: 'Anna' } };
    expect(await syncChanges(store)).toEqual({ ...same, user: answer.user });
    expect(told).toEqual([]);
  });

  // guard sync-store-11: the client's store catches what a listener throws
  // packages/client/src/sync/changes.ts
  // - .catch(this.#onError)
  it.each(['reported to a listener of errors', 'shown'])(
    'continues when a listener throws, which is %s',
    async (where) => {
      const onListenerError = jest.fn();
      const shown = jest.spyOn(console, 'error').mockReturnValue();
      const store = new SyncStore(source, where === 'shown' ? {} : { onListenerError });
      const error = new Error('no window');
      store.onChange(() => {
        throw error;
      });
      await syncChanges(store);
      await new Promise(setImmediate);
      expect((where === 'shown' ? shown : onListenerError).mock.calls).toEqual([[error]]);
      shown.mockRestore();
    },
  );

  // guard sync-store-8: the client's store reads again after its storage has failed
  // packages/client/src/sync/store.ts
  // -       this.#opened = undefined;
  // -       if (!(error
  // + if (!(error
  it('reads again after its storage has failed once', async () => {
    const storage = new MortalStorage();
    answer = { ...EMPTY, friends: [friend('bob')] };
    await syncChanges(new SyncStore(source, { storage }));
    const store = new SyncStore(source, { storage });
    jest.spyOn(storage, 'getItem').mockRejectedValueOnce(new Error('away'));
    await expect(store.friends()).rejects.toThrow('away');
    expect(await store.friends()).toEqual(answer.friends);
  });

  // guard sync-store-13: the client's store starts again when half of an answer cannot be read
  // packages/client/src/sync/spool.ts
  // - parseStored(text) as
  // + JSON.parse(text) as
  it.each([undefined, '[{'])('starts again when half of an answer is damaged after a crash (%s)', async (broken) => {
    answer = { ...EMPTY, friends: [friend('bob')], groups: [group('g')], group_members: [member('g', 'ann')] };
    const storage = new MortalStorage();
    const set = storage.setItem.bind(storage);
    storage.setItem = async (key, value) => {
      await set(key, value);
      if (key === 'sync:friends:0') throw new Error('the process has died');
    };
    expect(await new SyncStore(source, { storage }).sync()).toMatchObject({ ok: false, reason: 'storage' });
    storage.setItem = set;
    const chunk = [...storage.values.keys()].find((key) => /spool:.*:group_members:0/.test(key)) ?? '';
    if (broken === undefined) storage.values.delete(chunk);
    else storage.values.set(chunk, broken);
    const store = new SyncStore(source, { storage });
    expect(await store.friends()).toEqual([]);
    await syncChanges(store);
    expect(await store.friends()).toEqual(answer.friends);
    expect(await store.members('g')).toEqual(answer.group_members);
  });

  // guard sync-store-10: the client's store clears nothing because its storage has failed once
  // packages/client/src/sync/store.ts
  // - if (error instanceof StorageInUse) await this.#clear();
  // + await this.#clear();
  it('keeps its state when its storage fails once at the end of an answer', async () => {
    const storage = new MortalStorage();
    answer = { ...EMPTY, friends: [friend('bob')] };
    await syncChanges(new SyncStore(source, { storage }));
    answer = { ...EMPTY, version: 2, friends: [friend('cat')] };
    const get = storage.getItem.bind(storage);
    const set = storage.setItem.bind(storage);
    let isFolded = false;
    storage.setItem = async (key, value) => {
      await set(key, value);
      isFolded ||= key === 'sync:friends:0';
    };
    storage.getItem = async (key) => {
      if (!isFolded || key !== 'sync:head') return get(key);
      storage.getItem = get;
      throw new Error('away');
    };
    const store = new SyncStore(source, { storage });
    expect(await store.sync()).toMatchObject({ ok: false, reason: 'storage' });
    expect(await store.friends()).toEqual([friend('bob'), friend('cat')]);
    expect(await store.version()).toBe(2);
  });

  // guard sync-store-12: the client's store shows members of the user's groups only
  // packages/client/src/sync/tables.ts
  // - (await this.#groupIds()).has(groupId) ? this.#membersOf(groupId).rows() : []
  // + this.#membersOf(groupId).rows()
  it.each(['sync:groups', 'sync:groups:0'])(
    'shows no earlier members after it was damaged and cleared: %s',
    async (key) => {
      const storage = new MortalStorage();
      answer = { ...EMPTY, groups: [group('g')], group_members: [member('g', 'bob')] };
      const store = new SyncStore(source, { storage });
      await syncChanges(store);
      storage.values.set(key, '[{');
      await store.clear();
      expect(await store.members('g')).toEqual([]);
      if (key === 'sync:groups') expect([...storage.values.values()].join()).not.toContain('bob');
    },
  );

  it('returns a refusal, and keeps its state', async () => {
    const storage = new MortalStorage();
    await syncChanges(new SyncStore(source, { storage }));
    const before = new Map(storage.values);
    const refusal = failure('overloaded', 'try again', { code: 503, retryAfter: 2 });
    expect(await new SyncStore({ changesSince: async () => refusal }, { storage }).sync()).toEqual(refusal);
    expect(storage.values).toEqual(before);
  });

  it('is empty after it was cleared, and starts again', async () => {
    const storage = new MortalStorage();
    answer = { ...EMPTY, friends: [friend('bob')], groups: [group('g')], group_members: [member('g', 'ann')] };
    const store = new SyncStore(source, { storage });
    await syncChanges(store);
    await store.clear();
    expect([...storage.values.keys()].sort()).toEqual(['sync:blacklist', 'sync:friends', 'sync:groups', 'sync:head']);
    await syncChanges(store);
    expect(asked.map(([version]) => version)).toEqual([0, 0]);
    expect(await store.members('g')).toEqual([member('g', 'ann')]);
  });

  // guard sync-store-5: the client's store drops members from an earlier membership
  // packages/client/src/sync/tables.ts
  // - else if (!known.has(group.id)) await this.#membersOf(group.id).begin();
  // + else if ((await this.#storage.getItem(`${this.#prefix}:members:${group.id}`)) === null) await this.#membersOf(group.id).begin();
  it('starts again when a value of its storage is missing or cannot be read', async () => {
    const group_members = Array.from({ length: 250 }, (_, index) => member('g', `m${index}`));
    answer = { ...EMPTY, friends: [friend('bob')], groups: [group('g')], group_members };
    const intact = new MortalStorage();
    await syncChanges(new SyncStore(source, { storage: intact }));
    expect([...intact.values.keys()]).toEqual(expect.arrayContaining(['sync:members:g', 'sync:members:g:2']));
    const later = { ...answer, version: 2, group_members: group_members.slice(0, 240) };
    const changes = sourceOf((version) => (version === 0 ? later : { ...EMPTY, version: 2 }));
    for (const key of intact.values.keys()) {
      for (const broken of [undefined, '[{']) {
        const storage = new MortalStorage(new Map(intact.values));
        if (broken === undefined) storage.values.delete(key);
        else storage.values.set(key, broken);
        const store = new SyncStore(changes, { storage });
        // It notices when it reads, and also when it writes.
        await stateOf(store);
        await syncChanges(store);
        const { friends, groups } = await stateOf(new SyncStore(changes, { storage }));
        const held = { friends, members: groups.map(({ members }) => members.length) };
        expect({ key, broken, held }).toEqual({ key, broken, held: { friends: later.friends, members: [240] } });
      }
    }
  });
});

describe('a store that follows', () => {
  const EVERY_FAILURE = failure('unavailable', 'not now', { code: 503 });
  const HOUR_MS = 3_600_000;

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, 1_000 * count));

  /** Follows for a while, and returns how long each call was to wait. `answer` has none when nothing is wrong. */
  async function waits(
    ms: number,
    answer: (wait: number) => Promise<Answer<never> | undefined | void>,
    result: (version: number) => SyncResult = () => EMPTY,
    storage = memoryStorage(),
  ): Promise<number[]> {
    const asked: number[] = [];
    const source: SyncSource = {
      changesSince: async (version, { following }) => {
        const wait = following?.wait ?? 0;
        asked.push(wait);
        return (await answer(wait)) ?? given(inPieces(textOf(result(version)), 1_000));
      },
    };
    const stop = new SyncStore(source, { storage }).follow();
    await jest.advanceTimersByTimeAsync(ms);
    stop();
    await jest.advanceTimersByTimeAsync(120_000);
    return asked;
  }

  // guard sync-store-16: a store that follows makes no second call after a wait without changes
  // packages/client/src/sync/following.ts
  // - answer.ok ? WAIT_SECONDS : 0
  // + wait > 0 ? 0 : WAIT_SECONDS
  it('makes one call for each wait while nothing changes', async () => {
    const asked = await waits(HOUR_MS, async (wait) => void (await seconds(0.8 * wait)));
    expect(asked.length).toBeGreaterThan(85);
    expect(asked.length).toBeLessThan(95);
    expect(asked.filter((wait) => wait === 0)).toHaveLength(1);
  });

  // guard sync-store-14: a store that follows asks a service that does not wait once a minute
  // packages/client/src/sync/following.ts
  // - (hasWaited ? 0 : fruitless) + 1
  // + 1
  it('asks once a minute, in the end, when the service does not wait', async () => {
    expect((await waits(HOUR_MS, async () => undefined)).length).toBeLessThan(75);
  });

  it('pauses longer after each failure, and then does not wait', async () => {
    const asked = await waits(HOUR_MS, async () => EVERY_FAILURE);
    expect(asked.length).toBeLessThan(75);
    expect(new Set(asked)).toEqual(new Set([0]));
  });

  // guard sync-store-17: a store that follows does not become slower when a proxy ends its waits
  // packages/client/src/sync/following.ts
  // - (hasWaited ? 0 : fruitless) + 1
  // + fruitless + 1
  it('goes on at its pace when a proxy ends each wait', async () => {
    const asked = await waits(HOUR_MS, async (wait) => (wait > 0 ? seconds(30).then(() => EVERY_FAILURE) : undefined));
    expect(asked.filter((wait) => wait > 0).length).toBeGreaterThan(100);
  });

  // guard sync-store-15: a store that follows pauses shortly after the first answers that bring nothing
  // packages/client/src/sync/following.ts
  // - 2 ** (fruitless - 2)
  // + 60
  it('soon has what changed while it was told the same rows again and again', async () => {
    const begun = Date.now();
    const isHeld = () => Date.now() - begun < 1_000;
    const storage = memoryStorage();
    await waits(
      4_000,
      async () => (isHeld() ? undefined : void (await seconds(1))),
      () => ({ ...EMPTY, friends: [friend('bob', isHeld() ? '' : 'Bobby')] }),
      storage,
    );
    const kept = new SyncStore(
      sourceOf(() => EMPTY),
      { storage },
    );
    expect(await kept.friends()).toEqual([friend('bob', 'Bobby')]);
  });

  // guard sync-store-18: the answer of a wait does not undo what another sync has written in between
  // packages/client/src/sync/store.ts
  // - isOvertaken ? undefined : waited
  // + waited
  it('applies no answer that another sync has overtaken', async () => {
    let version = 1;
    const source: SyncSource = {
      changesSince: async (since, { following }) => {
        const wait = following?.wait ?? 0;
        const answer = { ...EMPTY, version, friends: [friend('bob', `${version}`)] };
        if (wait > 0 && since === 1 && version === 1) {
          version = 2;
          await syncChanges(store);
        } else if (wait > 0) await seconds(wait);
        return given(inPieces(textOf(answer), 1_000));
      },
    };
    const store = new SyncStore(source);
    const stop = store.follow();
    await jest.advanceTimersByTimeAsync(3_000);
    expect([await store.version(), await store.friends()]).toEqual([2, [friend('bob', '2')]]);
    stop();
    await jest.advanceTimersByTimeAsync(120_000);
  });
});

describe('two stores on one storage', () => {
  // guard sync-store-9: the client's store tells its listeners of another store's changes
  // packages/client/src/sync/store.ts
  // - if (isForeign) this.#news.isEverything = true;
  it('tell their listeners about changes that the other one has applied', async () => {
    const storage = new MortalStorage();
    let answer: SyncResult = { ...EMPTY, friends: [friend('bob')] };
    const [store, other] = [1, 2].map(
      () =>
        new SyncStore(
          sourceOf(() => answer),
          { storage },
        ),
    ) as [SyncStore, SyncStore];
    const told: boolean[] = [];
    store.onChange(({ everything }) => void told.push(everything));
    await syncChanges(store);
    answer = { ...EMPTY, version: 2, friends: [friend('cat')] };
    await syncChanges(other);
    // A listener that has not read the friends is not told of them.
    await store.user();
    answer = { ...EMPTY, version: 3 };
    await syncChanges(store);
    expect(told).toEqual([true, true]);
    await syncChanges(store);
    expect(told).toEqual([true, true]);
  });

  it('take turns when they share the storage object', async () => {
    const storage = new MortalStorage();
    let underWay = 0;
    const slow: SyncSource = {
      changesSince: async () => {
        underWay += 1;
        expect(underWay).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        underWay -= 1;
        return given(inPieces(textOf(EMPTY), 10));
      },
    };
    await Promise.all([1, 2, 3].map(() => syncChanges(new SyncStore(slow, { storage }))));
  });

  // guard sync-store-4: the client's store notices another store's writes to its storage
  // packages/client/src/sync/head.ts
  // - this.read())?.revision !== revision
  // + this.read())?.revision === "none"
  it('notice each other when they do not, and lose nothing', async () => {
    const values = new Map<string, string>();
    const [mine, other] = [new MortalStorage(values), new MortalStorage(values)];
    const first = { ...EMPTY, version: 5, friends: [friend('bob')] };
    const interrupted: SyncSource = {
      changesSince: async (version) => {
        await syncChanges(
          new SyncStore(
            sourceOf(() => first),
            { storage: other },
          ),
        );
        return sourceOf(() => ({ ...EMPTY, version: 4 })).changesSince(version, { names: false });
      },
    };
    const store = new SyncStore(interrupted, { storage: mine });
    await store.clear();
    expect(await store.sync()).toMatchObject({ ok: false, reason: 'storage_in_use' });
    expect(await store.friends()).toEqual([friend('bob')]);
    expect(await store.version()).toBe(5);
  });

  it('start again when both have applied changes at the same time', async () => {
    const values = new Map<string, string>();
    const first = { ...EMPTY, version: 5, friends: [friend('bob')] };
    const mine = new MortalStorage(values);
    const set = mine.setItem.bind(mine);
    mine.setItem = async (key, value) => {
      await set(key, value);
      if (key !== 'sync:friends:0') return;
      mine.setItem = set;
      await syncChanges(
        new SyncStore(
          sourceOf(() => first),
          { storage: new MortalStorage(values) },
        ),
      );
    };
    const store = new SyncStore(
      sourceOf(() => first),
      { storage: mine },
    );
    expect(await store.sync()).toMatchObject({ ok: false, reason: 'storage_in_use' });
    expect(await store.version()).toBe(0);
    await syncChanges(store);
    expect(await store.friends()).toEqual(first.friends);
  });
});
