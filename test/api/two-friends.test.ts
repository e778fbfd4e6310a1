import type { TestApp } from '../support/app';
import { expectRefusal } from '../support/calls';
import type { FoldingClient } from '../support/folding-client';
import { CREATOR, callGroup, MANAGER, MEMBER } from '../support/groups';
import { expectOk, field, profileOf, registerAndSignIn, type SignedInPerson } from '../support/people';
import { stage } from '../support/stage';
import { foldingClientOf, fullState, NAMES } from '../support/sync';

const REQUESTED_BY_ME = 10;
const REQUESTED_OF_ME = 11;
const FRIENDS = 20;
const PORTRAIT = 'https://img.example.com/hikers.png';

/** A person with a phone, which shows only what comes from sync. */
interface Owner extends SignedInPerson {
  client: FoldingClient;
}

/** A group as a phone shows it, with the names of its members. */
interface ShownGroup {
  name: string;
  portraitUri: string;
  role: number;
  members: Record<string, number>;
}

/**
 * Checks what docs/api.md and docs/sync.md promise to a reader of nothing else, in the order in which an app needs it.
 * Except for codes, which come by SMS, only operations are used, and their effects are read from what the phones show.
 */
describe('two friends and a group', () => {
  const { app } = stage({ eachTest: true });
  let ann: Owner;
  let bob: Owner;
  beforeEach(async () => {
    ann = await newOwner(app, 'Ann');
    bob = await newOwner(app, 'Bob');
  });

  it('begin with two empty phones, and see each request and answer on both', async () => {
    for (const { client, ...owner } of [ann, bob]) {
      await client.sync();
      expect(client.state()).toMatchObject({ user: profileOf(owner), blacklist: [], friends: [], groups: [] });
    }

    const { result: found } = await expectOk(ann.agent.post(`/user/find/${bob.region}/${bob.phone}`));
    expect(found).toEqual(profileOf(bob));
    expect(await ask(ann, '/friendship/invite', { friendId: field(found, 'id') })).toEqual({ action: 'Sent' });
    expect(await friendsOf(ann)).toEqual({ Bob: { status: REQUESTED_BY_ME, displayName: '' } });
    expect(await friendsOf(bob)).toEqual({ Ann: { status: REQUESTED_OF_ME, displayName: '' } });

    await ask(bob, '/friendship/agree', { friendId: ann.id });
    await ask(bob, '/friendship/set_display_name', { friendId: ann.id, displayName: 'Annie' });
    expect(await friendsOf(ann)).toEqual({ Bob: { status: FRIENDS, displayName: '' } });
    expect(await friendsOf(bob)).toEqual({ Ann: { status: FRIENDS, displayName: 'Annie' } });

    await ask(ann, '/user/set_nickname', { nickname: 'Ann Onymous' });
    expect(await friendsOf(bob)).toEqual({ 'Ann Onymous': { status: FRIENDS, displayName: 'Annie' } });

    await ask(bob, '/friendship/delete', { friendId: ann.id });
    expect(await friendsOf(bob)).toEqual({});
    expect(await friendsOf(ann)).toEqual({ Bob: { status: FRIENDS, displayName: '' } });
    expect(await ask(bob, '/friendship/invite', { friendId: ann.id })).toEqual({ action: 'Added' });
    expect(await friendsOf(bob)).toMatchObject({ 'Ann Onymous': { status: FRIENDS } });
  });

  it('make the group, change it, and see it end, each on all phones', async () => {
    const cat = await newOwner(app, 'Cat');
    await ask(ann, '/friendship/invite', { friendId: bob.id });
    await ask(bob, '/friendship/agree', { friendId: ann.id });

    const groupId = String(field(await ask(ann, '/group/create', { name: 'Hikers', memberIds: [bob.id] }), 'id'));
    await expectGroup([ann, bob], { name: 'Hikers', portraitUri: '', members: { Ann: CREATOR, Bob: MEMBER } });
    await expectNoGroup(cat);

    await ask(ann, '/group/rename', { groupId, name: 'Climbers' });
    await ask(ann, '/group/set_portrait_uri', { groupId, portraitUri: PORTRAIT });
    await ask(ann, '/group/set_bulletin', { groupId, bulletin: 'Sunday at eight' });
    const group = { name: 'Climbers', portraitUri: PORTRAIT };
    await expectGroup([ann, bob], { ...group, members: { Ann: CREATOR, Bob: MEMBER } });
    // Only the bulletin does not come by sync.
    expect(await ask(bob, `/group/${groupId}`)).toMatchObject({ ...group, bulletin: 'Sunday at eight' });

    await ask(cat, '/group/join', { groupId });
    await ask(ann, '/group/set_manager', { groupId, memberIds: [bob.id] });
    await expectGroup([ann, bob, cat], { ...group, members: { Ann: CREATOR, Bob: MANAGER, Cat: MEMBER } });

    await ask(bob, '/group/kick', { groupId, memberIds: [cat.id] });
    await expectGroup([ann, bob], { ...group, members: { Ann: CREATOR, Bob: MANAGER } });
    expectRefusal(await callGroup(cat, 'join', { groupId }), 404);
    await expectNoGroup(cat);

    await ask(ann, '/group/transfer', { groupId, userId: bob.id });
    await expectGroup([ann, bob], { ...group, members: { Ann: MEMBER, Bob: CREATOR } });
    await ask(ann, '/group/quit', { groupId });
    await expectGroup([bob], { ...group, members: { Bob: CREATOR } });
    await expectNoGroup(ann);
    await ask(ann, '/group/join', { groupId });
    await expectGroup([ann, bob], { ...group, members: { Ann: MEMBER, Bob: CREATOR } });

    await ask(bob, '/group/dismiss', { groupId });
    for (const owner of [ann, bob, cat]) await expectNoGroup(owner);
    expect(await friendsOf(ann)).toEqual({ Bob: { status: FRIENDS, displayName: '' } });
  });
});

/** Registers with a code, a token and a password, like everybody. */
async function newOwner(app: TestApp, nickname: string): Promise<Owner> {
  const person = await registerAndSignIn(app, nickname);
  return { ...person, client: foldingClientOf(person, NAMES) };
}

async function ask({ agent }: Owner, path: string, body?: object): Promise<unknown> {
  return (await expectOk(agent.post(path).send(body))).result;
}

/** Syncs what is new. A phone that begins again must show the same. */
async function shown(owner: Owner) {
  await owner.client.sync();
  const state = owner.client.state();
  expect(state).toEqual(await fullState(owner, NAMES));
  return state;
}

async function friendsOf(owner: Owner): Promise<Record<string, { status: number; displayName: string }>> {
  const { friends } = await shown(owner);
  return Object.fromEntries(
    friends.map(({ user, status, displayName }) => [user?.nickname ?? '', { status, displayName }]),
  );
}

async function groupsOf(owner: Owner): Promise<ShownGroup[]> {
  const { groups } = await shown(owner);
  return groups.map(({ role, group: { name, portraitUri }, members }) => ({
    name,
    portraitUri,
    role,
    members: Object.fromEntries(members.map((member) => [member.user.nickname, member.role])),
  }));
}

/** Checks the group of each owner, who sees their own role in it like the others do. */
async function expectGroup(owners: Owner[], group: Omit<ShownGroup, 'role'>): Promise<void> {
  for (const owner of owners)
    expect(await groupsOf(owner)).toEqual([{ ...group, role: group.members[owner.nickname] }]);
}

async function expectNoGroup(owner: Owner): Promise<void> {
  expect(await groupsOf(owner)).toEqual([]);
}
