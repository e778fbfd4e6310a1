import { post } from '../../support/calls';
import { changePages } from '../../support/change-pages';
import { untilEventsSeen } from '../../support/events';
import type { SyncResult } from '../../support/folding-client';
import { befriend, createGroup } from '../../support/groups';
import { OPERATIONS } from '../../support/operations';
import { expectOk, field, newPhone, signIn, verificationToken, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { insertGroup, isEmpty, NAMES, settledClient, sync } from '../../support/sync';
import { until } from '../../support/until';

const connect = changePages(() => app);
const { app, ann, bob, cat, dan } = stage({ people: 4, ownCluster: true });
let groupId: string;
let fence: string;

// Ann has two friends, and a group with Bob. Dan is a stranger, with whom all are in another group.
beforeEach(async () => {
  await befriend(app, ann, [bob, cat]);
  groupId = await createGroup(app, [ann, bob]);
  fence = `fence-${ann.id}`;
  await insertGroup(app, fence, [dan, ann, bob, cat]);
});

const by = ({ agent }: SignedInPerson, path: string, body?: object) => expectOk(agent.post(path).send(body));
const password = () => ({ password: ann.password });
const tokenOf = (phone = { region: ann.region, phone: ann.phone }) => verificationToken(app, phone);

/** Each operation that changes something, as a user calls it, with what has to be there. */
type Case = [path: string, call: () => Promise<unknown>, before?: () => Promise<unknown>];

const asked = () => by(cat, '/friendship/invite', { friendId: bob.id });
const ignored = async () => {
  await asked();
  await by(bob, '/friendship/ignore', { friendId: cat.id });
};
const managed = () => by(ann, '/group/set_manager', { groupId, memberIds: [bob.id] });

const CASES: Case[] = [
  ['/user/set_nickname', () => by(ann, '/user/set_nickname', { nickname: 'Annabel' })],
  ['/user/set_portrait_uri', () => by(ann, '/user/set_portrait_uri', { portraitUri: 'https://a.b/p.png' })],
  [
    '/user/remove_portrait',
    () => by(ann, '/user/remove_portrait'),
    () => by(ann, '/user/set_portrait_uri', { portraitUri: 'https://a.b/p.png' }),
  ],
  ['/user/set_findable', () => by(ann, '/user/set_findable', { findable: false })],
  ['/user/add_to_blacklist', () => by(ann, '/user/add_to_blacklist', { friendId: bob.id })],
  ['/user/add_to_blacklist', () => by(dan, '/user/add_to_blacklist', { friendId: bob.id })],
  [
    '/user/remove_from_blacklist',
    () => by(ann, '/user/remove_from_blacklist', { friendId: bob.id }),
    () => by(ann, '/user/add_to_blacklist', { friendId: bob.id }),
  ],
  ['/user/login', () => signIn(app, ann)],
  ['/user/login_by_token', async () => by(ann, '/user/login_by_token', { verification_token: await tokenOf() })],
  ['/user/logout', async () => by(await signIn(app, ann), '/user/logout')],
  [
    '/user/end_session',
    async () => {
      const { result } = await by(ann, '/user/sessions');
      const other = (result as { id: string; current: boolean }[]).find(({ current }) => !current);
      await by(ann, '/user/end_session', { id: other?.id });
    },
    () => signIn(app, ann),
  ],
  [
    '/user/change_password',
    () => by(ann, '/user/change_password', { ...ann, oldPassword: ann.password, newPassword: 'password-2' }),
  ],
  [
    '/user/reset_password',
    async () => by(ann, '/user/reset_password', { ...password(), verification_token: await tokenOf() }),
  ],
  [
    '/user/set_password',
    async () => {
      await app.db('users').where({ id: ann.id }).update({ password_hash: '' });
      await by(ann, '/user/set_password', { password: 'password-2', verification_token: await tokenOf() });
    },
  ],
  [
    '/user/change_phone',
    async () => by(ann, '/user/change_phone', { ...password(), verification_token: await tokenOf(newPhone()) }),
  ],
  ['/user/start_over', async () => by(ann, '/user/start_over', { verification_token: await tokenOf() })],
  [
    '/user/keep_number',
    () => by(ann, '/user/keep_number', password()),
    async () => by(ann, '/user/start_over', { verification_token: await tokenOf() }),
  ],
  ['/user/close_account', () => by(ann, '/user/close_account', password())],
  ['/friendship/invite', asked],
  ['/friendship/agree', () => by(bob, '/friendship/agree', { friendId: cat.id }), asked],
  ['/friendship/ignore', () => by(bob, '/friendship/ignore', { friendId: cat.id }), asked],
  ['/friendship/delete', () => by(ann, '/friendship/delete', { friendId: bob.id })],
  ['/friendship/delete', () => by(bob, '/friendship/delete', { friendId: cat.id }), asked],
  ['/friendship/delete', () => by(bob, '/friendship/delete', { friendId: cat.id }), ignored],
  ['/friendship/withdraw', () => by(cat, '/friendship/withdraw', { friendId: bob.id }), asked],
  ['/friendship/withdraw', () => by(cat, '/friendship/withdraw', { friendId: bob.id }), ignored],
  [
    '/friendship/set_display_name',
    () => by(ann, '/friendship/set_display_name', { friendId: bob.id, displayName: 'Bobby' }),
  ],
  ['/group/create', () => by(ann, '/group/create', { name: 'Hikers', memberIds: [bob.id] })],
  ['/group/add', () => by(ann, '/group/add', { groupId, memberIds: [cat.id] })],
  ['/group/join', () => by(cat, '/group/join', { groupId })],
  ['/group/quit', () => by(bob, '/group/quit', { groupId })],
  ['/group/kick', () => by(ann, '/group/kick', { groupId, memberIds: [bob.id] })],
  ['/group/dismiss', () => by(ann, '/group/dismiss', { groupId })],
  ['/group/transfer', () => by(ann, '/group/transfer', { groupId, userId: bob.id })],
  ['/group/rename', () => by(ann, '/group/rename', { groupId, name: 'Walkers' })],
  ['/group/set_portrait_uri', () => by(ann, '/group/set_portrait_uri', { groupId, portraitUri: 'https://a.b/p.png' })],
  ['/group/set_bulletin', () => by(ann, '/group/set_bulletin', { groupId, bulletin: 'On Sunday' })],
  ['/group/set_display_name', () => by(bob, '/group/set_display_name', { groupId, displayName: 'Bobby' })],
  ['/group/set_manager', managed],
  ['/group/remove_manager', () => by(ann, '/group/remove_manager', { groupId, memberIds: [bob.id] }), managed],
];

/** Operations that change nothing which any account of before could have a row of. */
const OTHERS = [
  '/user/send_code',
  '/user/verify_code',
  '/user/check_phone_available',
  '/user/get_sms_img_code',
  '/user/register',
  '/user/register_by_token',
  '/user/blacklist',
  '/user/groups',
  '/user/sessions',
  '/user/sessions/check',
  '/user/number_claim',
  '/user/export',
  '/user/get_token',
  '/user/get_image_token',
  '/user/sync/:version',
  '/user/find/:region/:phone',
  '/user/batch',
  '/user/:id',
  '/friendship/all',
  '/friendship/:friendId/profile',
  '/group/:id',
  '/group/:id/members',
];

/** Opens the page of a person, who has synchronised before. */
async function watched(person: SignedInPerson) {
  const { version } = await settledClient(person, NAMES);
  return { person, version, page: await connect(person) };
}

/** Whether a sync of this person has a row now, or undefined if the session has ended. */
async function hasRows({ person, version }: { person: SignedInPerson; version: number }): Promise<boolean | undefined> {
  const { status, body } = await post(person.agent, `/user/sync/${version}`, NAMES);
  if (status === 401) return undefined;
  const result = field(body, 'result') as SyncResult;
  return !isEmpty(result) || result.user.timestamp > version;
}

describe('a page is told exactly if a sync has a row', () => {
  it('tries every operation', () => {
    const paths = [...new Set(CASES.map(([path]) => path)), ...OTHERS].sort();
    expect(paths).toEqual(OPERATIONS.map(({ path }) => path).sort());
  });

  it.each(CASES)('after %s', async (_path, call, before = () => Promise.resolve()) => {
    await before();
    await untilEventsSeen(app);
    const all = [await watched(ann), await watched(bob), await watched(cat), await watched(dan)];
    await until(() => all.every(({ page }) => page.versions.length === 1));
    await call();
    await app.sweep();
    await untilEventsSeen(app);

    const told: typeof all = [];
    const untold: typeof all = [];
    for (const one of all) {
      const rows = await hasRows(one);
      if (rows !== undefined) (rows ? told : untold).push(one);
    }
    await until(() => told.every(({ page }) => page.versions.length > 1));

    // A page that hears of the fence has heard of all before it. Dan hears first of something that no other is told.
    const witness = (all[3]?.page.versions ?? []).length;
    await by(dan, '/user/add_to_blacklist', { friendId: cat.id });
    await until(() => (all[3]?.page.versions ?? []).length > witness);
    await by(dan, '/group/rename', { groupId: fence, name: 'The fence' });
    const { groups } = await sync(dan, all[3]?.version);
    const version = Math.max(...groups.map(({ group }) => group.timestamp));
    const others = untold.filter(({ person }) => person.id !== dan.id);
    // The session of a page may have ended.
    await until(() => others.every(({ page }) => page.hasEnded() || (page.versions.at(-1) ?? 0) >= version));
    const early = others.filter(({ page }) => page.versions.filter((one) => one < version).length !== 1);
    expect(early.map(({ person }) => person.nickname)).toEqual([]);
  });
});
