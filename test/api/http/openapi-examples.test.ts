import type { TestApp } from '../../support/app';
import { post, sendRaw } from '../../support/calls';
import { DOCUMENT, type Described } from '../../support/document';
import { multipartForm, PNG } from '../../support/images';
import { field, insertPerson, signIn, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';

/** The people and groups that the examples name. */
const PHONE = '+447911123456';
const ANN = { region: 44, phone: 7911123456, password: 'opensesame' };
const BOB = 'b3Hn8TyUc5Xe';
const HIKERS = 'g4Xk9PqLs2Wv';

const { app } = stage({ env: { CODE_RESEND_SECONDS: '1' } });
let ann: ReturnType<TestApp['agent']>;
let bob: SignedInPerson;

/** Values that the service makes, for which an example can only have a stand-in. */
let made: Record<string, unknown> = {};

beforeAll(async () => {
  ann = app.agent();
  bob = await signIn(app, await insertPerson(app, 'Bob', BOB));
});

const isReady = () => Promise.resolve();

async function verify(phone = { region: ANN.region, phone: ANN.phone }): Promise<void> {
  expect(await post(app.api, '/user/send_code', phone)).toMatchObject({ body: { code: 200 } });
  const code = app.sms.codeFor(`+44${phone.phone}`);
  const { body } = await post(app.api, '/user/verify_code', { ...phone, code });
  made = { verification_token: field(field(body, 'result'), 'verification_token') };
}

async function logIn(): Promise<void> {
  expect(await post(ann, '/user/login', ANN)).toMatchObject({ body: { code: 200 } });
}

async function annId(): Promise<string> {
  return String(field(await app.db('phones').where({ phone: PHONE }).first('user_id'), 'user_id'));
}

async function beAsked(): Promise<void> {
  expect(await post(bob.agent, '/friendship/invite', { friendId: await annId() })).toMatchObject({
    body: { result: { action: 'Sent' } },
  });
}

async function askBob(): Promise<void> {
  const sides = app.db('friendships');
  await sides.clone().where({ friend_id: BOB }).update({ status: 10 });
  await sides.clone().where({ user_id: BOB }).update({ status: 11 });
}

async function makeHikers(): Promise<void> {
  const creator = await annId();
  await app.db('groups').insert({ id: HIKERS, name: 'Hikers', creator_id: creator });
  for (const member of [creator, BOB]) await app.db('group_members').insert({ group_id: HIKERS, member_id: member });
}

async function getHikersBack(): Promise<void> {
  const back = { groupId: HIKERS, userId: await annId() };
  expect(await post(bob.agent, '/group/transfer', back)).toMatchObject({ body: { code: 200 } });
}

async function codeOfAnn(): Promise<void> {
  made = { code: app.sms.codeFor(PHONE) };
}

async function tokenOfAnn(): Promise<void> {
  await app.db('verification_codes').delete();
  await verify();
}

async function forgetPassword(): Promise<void> {
  await app
    .db('users')
    .where({ id: await annId() })
    .update({ password_hash: '' });
  await tokenOfAnn();
}

/** All operations in a sensible order, each with what must happen first. */
const STEPS: [name: string, before?: () => Promise<void>][] = [
  ['userSendCode'],
  ['userVerifyCode', codeOfAnn],
  ['userCheckPhoneAvailable'],
  ['userRegister', tokenOfAnn],
  ['userLogin'],
  ...[
    'userSessions',
    'userSessionsCheck',
    'userEndSession',
    'userGetSmsImgCode',
    'userGetToken',
    'userGetImageToken',
  ].map(always),
  ...['userSetNickname', 'userSetPortraitUri', 'userRemovePortrait', 'userSetFindable'].map(always),
  ...['userFindByRegionAndPhone', 'userById', 'userBatch', 'userAddToBlacklist', 'userBlacklist'].map(always),
  ['userRemoveFromBlacklist'],
  ['friendshipIgnore', beAsked],
  ...['friendshipAgree', 'friendshipSetDisplayName', 'friendshipByFriendIdProfile', 'friendshipAll'].map(always),
  ['groupCreate'],
  ['groupById', makeHikers],
  ...['userGroups', 'groupByIdMembers', 'groupRename', 'groupSetPortraitUri', 'groupSetBulletin'].map(always),
  ...['groupSetDisplayName', 'groupKick', 'groupAdd', 'groupSetManager', 'groupRemoveManager'].map(always),
  ...['userSyncByVersion', 'groupTransfer', 'groupQuit', 'groupJoin'].map(always),
  ['groupDismiss', getHikersBack],
  ['friendshipDelete'],
  ['friendshipInvite'],
  ['friendshipWithdraw', askBob],
  ['userStartOver', tokenOfAnn],
  ['userNumberClaim'],
  ['userKeepNumber'],
  ['userExport'],
  ['userChangePassword'],
  ['userLoginByToken', tokenOfAnn],
  ['userSetPassword', forgetPassword],
  ['userResetPassword', tokenOfAnn],
  ['userChangePhone', () => logIn().then(() => verify({ region: 44, phone: 7911123457 }))],
  ['userLogout'],
  ['userCloseAccount', backToOldPhone],
  ['userRegisterByToken', tokenOfAnn],
];

function always(name: string): [name: string] {
  return [name];
}

async function backToOldPhone(): Promise<void> {
  await app.db('phones').where({ phone: '+447911123457' }).update({ phone: PHONE });
  await logIn();
}

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, { post: operation }]) =>
  operation && path !== '/files' ? [{ path, operation }] : [],
);

function pathOf(path: string, { parameters = [] }: Described): string {
  return parameters.reduce((filled, { name, schema }) => filled.replace(`{${name}}`, String(schema.examples[0])), path);
}

describe('the examples of docs/openapi.json', () => {
  it('are sent by these tests for every operation', () => {
    expect(STEPS.map(([name]) => name).sort()).toEqual(OPERATIONS.map(({ operation }) => operation.operationId).sort());
  });

  it.each(STEPS)('%s succeeds with its example', async (name, before = isReady) => {
    await before();
    const [found] = OPERATIONS.filter(({ operation }) => operation.operationId === name);
    if (!found) throw new Error(`${name} is not in the document`);
    const { path, operation } = found;
    const example = operation.requestBody?.content['application/json']?.example as object | undefined;
    expect(example !== undefined).toBe(operation.requestBody !== undefined);
    const body =
      example && Object.fromEntries(Object.entries(example).map(([key, value]) => [key, made[key] ?? value]));
    const answer = await post(ann, pathOf(path, operation), body);
    expect(answer).toMatchObject({ status: 200, body: { code: 200 } });
    // The answer has the same fields as the example. Additional ones are refused by as-documented.ts.
    const shown = operation.responses['200']?.content?.['application/json']?.example;
    expect(Object.keys(answer.body as object)).toEqual(Object.keys(shown as object));
  });

  it('for an upload name fields that the service accepts', async () => {
    await verify({ region: 44, phone: 7911123458 });
    const { verification_token } = made;
    await post(app.api, '/user/register', { nickname: 'Cleo', password: ANN.password, verification_token });
    const cleo = app.agent();
    await post(cleo, '/user/login', { ...ANN, phone: 7911123458 });
    const { body } = await post(cleo, '/user/get_image_token');
    const upload = DOCUMENT.paths['/files']?.post?.requestBody?.content['multipart/form-data']?.example as object;
    expect(Object.keys(upload).sort()).toEqual(['crc32', 'file', 'key', 'token']);
    const parts = multipartForm([
      ['token', String(field(field(body, 'result'), 'token'))],
      ['file', PNG],
    ]);
    const stored = await sendRaw(app, '/', parts);
    expect(stored).toMatchObject({ status: 200 });
    expect(await sendRaw(app, `/files/${String(field(stored.body, 'key'))}`, { method: 'GET' })).toMatchObject({
      status: 200,
    });
  });

  it.each(['/healthz', '/readyz', '/.well-known/jwks.json', '/openapi.json'])('%s is served', async (path) => {
    expect(await sendRaw(app, path, { method: 'GET' })).toMatchObject({ status: 200 });
  });
});
