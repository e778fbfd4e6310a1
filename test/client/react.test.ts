import { Component, createElement, type ReactNode } from 'react';
import { create, type ReactTestRenderer } from 'react-test-renderer';
import { memoryStorage, SyncStore } from '../../packages/client/src/index.ts';
import {
  useBlacklist,
  useFriends,
  useGroups,
  useMembers,
  useSession,
  useUser,
} from '../../packages/client/src/react.ts';
import { startApp } from '../support/app';
import { credentialsOf, signedInClient } from '../support/client';
import type { SyncResult } from '../support/folding-client';
import { insertPerson } from '../support/people';
import { sourceOf, syncChanges } from '../support/synced';
import { until } from '../support/until';

// Without it the renderer warns that it is not meant for pages.
beforeAll(() => void Object.assign(globalThis, { IS_REACT_NATIVE_TEST_ENVIRONMENT: true }));
afterAll(() => Reflect.deleteProperty(globalThis, 'IS_REACT_NATIVE_TEST_ENVIRONMENT'));

/** Shows an error that a component below has thrown. */
class Boundary extends Component<{ children: ReactNode }, { failure?: Error }> {
  override state: { failure?: Error } = {};

  static getDerivedStateFromError(failure: Error) {
    return { failure };
  }

  override render() {
    return this.state.failure?.message ?? this.props.children;
  }
}

const user = (id: string) => ({ id, nickname: id, portraitUri: '', timestamp: 1 });
const friend = (friendId: string) => ({ friendId, displayName: '', status: 20, timestamp: 1 });
const group = (id: string) => {
  return { displayName: '', role: 1, isDeleted: false, group: { id, name: id, portraitUri: '', timestamp: 1 } };
};
const member = (groupId: string, memberId: string) => {
  const { nickname, portraitUri } = user(memberId);
  return {
    groupId,
    memberId,
    displayName: '',
    role: 1,
    isDeleted: false,
    timestamp: 1,
    user: { nickname, portraitUri },
  };
};
const FIRST: SyncResult = {
  version: 1,
  user: user('ann'),
  blacklist: [{ friendId: 'eve', status: true, timestamp: 1 }],
  friends: [friend('bob')],
  groups: [group('hikers'), group('singers')],
  group_members: [member('hikers', 'ann'), member('hikers', 'bob'), member('singers', 'ann')],
};
const EMPTY: SyncResult = { ...FIRST, version: 2, blacklist: [], friends: [], groups: [], group_members: [] };

describe('the hooks for React', () => {
  let root: ReactTestRenderer | undefined;
  /** All rendered texts in order. */
  let rendered: string[];
  let answer: SyncResult;
  let store: SyncStore;

  beforeEach(() => {
    rendered = [];
    answer = FIRST;
    store = new SyncStore(sourceOf(() => answer));
  });
  afterEach(() => {
    root?.unmount();
    root = undefined;
  });

  /** Renders the hook's value as JSON. */
  function Shown({ use }: { use: () => unknown }): string {
    const text = JSON.stringify(use()) ?? 'nothing yet';
    rendered.push(text);
    return text;
  }

  function render(use: () => unknown): void {
    const element = createElement(Boundary, null, createElement(Shown, { use }));
    if (root === undefined) root = create(element);
    else root.update(element);
  }

  const shows = (text: string) => until(() => rendered.at(-1) === text);

  // guard react-2: a hook reads again when its list has changed
  // packages/client/src/react.ts
  // - changes.everything || part.isIn(changes, key)
  // + changes.everything
  it.each([
    ['useUser', () => useUser(store)?.nickname, 'nothing yet', '"ann"', '"Anna"'],
    ['useFriends', () => useFriends(store)?.map(({ friendId }) => friendId), '[]', '["bob"]', '["bob","cat"]'],
    ['useBlacklist', () => useBlacklist(store)?.map(({ friendId }) => friendId), '[]', '["eve"]', '["eve","mallory"]'],
    ['useGroups', () => useGroups(store)?.map(({ group }) => group.id), '[]', '["hikers","singers"]', '["hikers"]'],
    [
      'useMembers',
      () => useMembers(store, 'hikers')?.map(({ memberId }) => memberId),
      '[]',
      '["ann","bob"]',
      '["ann"]',
    ],
  ] as const)('%s shows what the store has, and follows its changes', async (_, use, empty, first, second) => {
    render(use);
    await shows(empty);
    await syncChanges(store);
    await shows(first);
    answer = {
      ...EMPTY,
      user: { ...user('ann'), nickname: 'Anna' },
      friends: [friend('cat')],
      blacklist: [{ friendId: 'mallory', status: true, timestamp: 2 }],
      groups: [{ ...group('singers'), isDeleted: true }],
      group_members: [{ ...member('hikers', 'bob'), isDeleted: true }],
    };
    await syncChanges(store);
    await shows(second);
    await store.clear();
    await shows(empty);
  });

  it('does not read again when something else has changed', async () => {
    let reads = 0;
    const friends = store.friends.bind(store);
    store.friends = () => ((reads += 1), friends());
    render(() => useFriends(store)?.length);
    await shows('0');
    await syncChanges(store);
    await shows('1');
    const told = new Promise((resolve) => store.onChange(resolve));
    answer = { ...EMPTY, groups: [group('readers')] };
    await syncChanges(store);
    await told;
    expect(reads).toBe(2);
  });

  // guard react-1: a hook shows nothing of the previous group
  // packages/client/src/react.ts
  // - shown?.store === store && shown.key === key ? shown.value : undefined
  // + shown?.value
  it('shows nothing of the previous group or store', async () => {
    await syncChanges(store);
    render(() => useMembers(store, 'hikers')?.length);
    await shows('2');
    rendered = [];
    render(() => useMembers(store, 'singers')?.length);
    await shows('1');
    const other = new SyncStore(sourceOf(() => EMPTY));
    render(() => useMembers(other, 'singers')?.length);
    await shows('0');
    expect(rendered).toEqual(['nothing yet', '1', 'nothing yet', '0']);
  });

  it("throws the storage's error, for an error boundary", async () => {
    const told = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const failing = { ...memoryStorage(), getItem: () => Promise.reject(new Error('the disk is full')) };
    const broken = new SyncStore(
      sourceOf(() => FIRST),
      { storage: failing },
    );
    render(() => useFriends(broken));
    await until(() => (root?.toJSON() as unknown) === 'the disk is full');
    told.mockRestore();
  });

  it('useSession shows whether a user is signed in', async () => {
    const app = await startApp();
    const ann = await insertPerson(app, 'Ann');
    const client = await signedInClient(app, ann);
    render(() => useSession(client));
    await shows('true');
    await client.logout();
    await shows('false');
    await client.call('/user/login', credentialsOf(ann));
    await shows('true');
    await app.close();
  });
});
