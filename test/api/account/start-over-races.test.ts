import { randomInt } from 'node:crypto';
import type { Knex } from 'knex';
import { tokenHash } from '../../../src/base/secrets';
import { repositories } from '../../../src/composition/repositories';
import { transactions } from '../../../src/database/transaction';
import { SuspensionService } from '../../../src/features/account/suspension-service';
import { UsersRepository } from '../../../src/features/users/users-repository';
import { newUserId } from '../../../src/features/users/user-id';
import { VerificationTokensRepository } from '../../../src/features/verification/verification-tokens-repository';
import { newVerificationToken } from '../../../src/features/verification/verification-token';
import { amount } from '../../support/amounts';
import { startApp, type TestApp } from '../../support/app';
import { expectBody, expectRefusal, post, type Answer } from '../../support/calls';
import { Choices } from '../../support/choices';
import { FaultProxy } from '../../support/fault-proxy';
import { Gate } from '../../support/gate';
import {
  e164,
  field,
  insertAndSignIn,
  insertPerson,
  newPassword,
  newPhone,
  signIn,
  type Person,
  type PhoneFields,
  type SignedInPerson,
} from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { watchStatements } from '../../support/statements';
import { fullState, insertGroup, settledClient } from '../../support/sync';
import { until } from '../../support/until';
import { whileHeld, whileOpen } from '../../support/waiting';

const { app, instance, ann } = stage({ people: 1 });

const FREE = { code: 200, result: { state: 'free' } };

/** Proves a phone as verify_code does, without a message. */
async function proofOf(phone: PhoneFields): Promise<string> {
  const token = rememberSecret(newVerificationToken());
  const expires_at = app.db.raw(`now() + interval '30 minutes'`);
  const row = { token_hash: tokenHash(token), phone: e164(phone), region: '44', expires_at };
  await app.db('verification_tokens').insert(row);
  return token;
}

const startOver = (verification_token: string, on: TestApp = app) =>
  post(on.api, '/user/start_over', { verification_token });
const registration = (verification_token: string) => ({ nickname: 'New', password: newPassword(), verification_token });

/** Returns the state that start_over has told, or an empty text. */
function stateIn({ body }: Pick<Answer, 'body'>): string {
  const state = field(field(body, 'result'), 'state');
  return typeof state === 'string' ? state : '';
}

/** Returns the id of a new or signed-in account, or an empty text. */
function idIn({ body }: Pick<Answer, 'body'>): string {
  const id = field(field(body, 'result'), 'id');
  return typeof id === 'string' ? id : '';
}

/** Inserts a friend of Ann in a group of hers. */
async function insertFriend(): Promise<Person> {
  const eve = await insertPerson(app, 'Eve');
  await app.db('friendships').insert([
    { user_id: eve.id, friend_id: ann.id, status: 20 },
    { user_id: ann.id, friend_id: eve.id, status: 20 },
  ]);
  await insertGroup(app, newUserId(), [ann, eve]);
  return eve;
}

const sleep = ({ id }: Person) =>
  app
    .db('phones')
    .where({ user_id: id })
    .update({ awake_at: app.db.raw(`now() - interval '200 days'`) });

/** Returns what is left of an account, and what it would be without any. */
async function rowsOf(id: string): Promise<Record<string, number>> {
  const count = async (table: string, condition: string, ...values: string[]) =>
    (await app.db(table).whereRaw(condition, values)).length;
  return {
    phones: await count('phones', 'user_id = ?', id),
    sessions: await count('session', `sess ->> 'userId' = ?`, id),
    claims: await count('number_claims', 'user_id = ?', id),
    friendships: await count('friendships', 'status <> 30 AND (user_id = ? OR friend_id = ?)', id, id),
    memberships: await count('group_members', 'member_id = ? AND NOT is_deleted', id),
    unfinished: await count('account_closings', 'user_id = ?', id),
  };
}
const NOTHING = { phones: 0, sessions: 0, claims: 0, friendships: 0, memberships: 0, unfinished: 0 };

const isClosed = async ({ id }: Person) => (await app.db('users').where({ id }).whereNotNull('closed_at')).length > 0;
const holderOf = async (phone: PhoneFields) =>
  field(
    await app
      .db('phones')
      .where({ phone: e164(phone) })
      .first<unknown>('user_id'),
    'user_id',
  );

describe('starting over beside everything else that may happen to a number', () => {
  const ROUNDS = amount(60);
  const seed = Number(process.env.START_OVER_SEED ?? randomInt(2 ** 31));
  /** Requests before a call, so that a call without hashing does not always come first. */
  const LONGEST_DELAY = 8;
  const ALLOWED = [200, 400, 401, 403, 404, 1000];

  interface Round {
    eve: Person;
    /** Eve's session, unless her account is asleep. */
    signedIn: SignedInPerson | undefined;
    /** A user who has proved the number too. */
    dan: SignedInPerson;
    tokens: readonly [string, string];
    otherToken: string;
    others: readonly [TestApp, TestApp];
    choices: Choices;
  }

  const suspension = () => new SuspensionService(transactions(app.db, repositories));
  const OPERATOR = { address: '', ip: '', userAgent: 'operator', requestId: '' };

  type Call = (round: Round, on: TestApp) => Promise<Answer>;
  const tokenIn = ({ tokens, choices }: Round) => choices.oneOf(tokens);
  const asOwner = ({ signedIn }: Round, on: TestApp, path: string, body: object): Promise<Answer> =>
    signedIn ? post(signedIn.agent, path, body) : post(on.api, path, body);
  const CALLS: Record<string, Call> = {
    start_over: (round, on) => startOver(tokenIn(round), on),
    register: (round, on) => post(on.api, '/user/register', registration(tokenIn(round))),
    register_by_token: (round, on) =>
      post(on.api, '/user/register_by_token', { nickname: 'New', verification_token: tokenIn(round) }),
    login_by_token: (round, on) => post(on.api, '/user/login_by_token', { verification_token: tokenIn(round) }),
    reset_password: (round, on) =>
      post(on.api, '/user/reset_password', { password: newPassword(), verification_token: tokenIn(round) }),
    login: ({ eve: { region, phone, password } }, on) => post(on.api, '/user/login', { region, phone, password }),
    keep_number: (round, on) => asOwner(round, on, '/user/keep_number', { password: round.eve.password }),
    change_phone: (round, on) =>
      asOwner(round, on, '/user/change_phone', { password: round.eve.password, verification_token: round.otherToken }),
    close_account: (round, on) => asOwner(round, on, '/user/close_account', { password: round.eve.password }),
    'change_phone of another': (round) => {
      const body = { password: round.dan.password, verification_token: tokenIn(round) };
      return post(round.dan.agent, '/user/change_phone', body);
    },
    suspend: async ({ eve }) => {
      const isDone = await suspension().suspend(eve.id, undefined, OPERATOR);
      return { status: isDone ? 200 : 400, body: { code: isDone ? 200 : 400 }, headers: {} };
    },
  };
  const NAMES = Object.keys(CALLS) as [string, ...string[]];
  const STATES = ['asleep', 'awake', 'claimed', 'due'] as const;

  async function play(choices: Choices, others: Round['others'], dan: SignedInPerson): Promise<void> {
    const state = choices.oneOf(STATES);
    const eve = await insertFriend();
    const signedIn = state === 'asleep' ? undefined : await signIn(app, eve);
    if (state === 'asleep') await sleep(eve);
    if (state === 'claimed' || state === 'due') expect(stateIn(await startOver(await proofOf(eve)))).toBe('claimed');
    if (state === 'due')
      await app
        .db('number_claims')
        .where({ user_id: eve.id })
        .update({ due_at: app.db.raw(`now() - interval '1 minute'`) });
    await app.db('verification_tokens').delete();
    const tokens = [await proofOf(eve), await proofOf(eve)] as const;
    const round = { eve, signedIn, dan, tokens, otherToken: await proofOf(newPhone()), others, choices };
    const named = ['start_over', ...Array.from({ length: 2 + choices.numberBelow(4) }, () => choices.oneOf(NAMES))];
    const done = await Promise.all(
      named.map((name) => doneBy(name, round, choices.oneOf([app, ...others]), choices.numberBelow(LONGEST_DELAY))),
    );
    await until(async () => (await rowsOf(eve.id)).unfinished === 0);
    await judge(state, round, done);
  }

  interface Done {
    name: string;
    code: number;
    state: string;
    body: unknown;
  }

  async function doneBy(name: string, round: Round, on: TestApp, delay: number): Promise<Done> {
    const call = CALLS[name];
    if (!call) throw new Error(`unknown call: ${name}`);
    for (let before = 0; before < delay; before += 1) await post(on.api, '/user/check_phone_available', newPhone());
    const answer = await call(round, on);
    return { name, code: Number(field(answer.body, 'code')), state: stateIn(answer), body: answer.body };
  }

  async function judge(state: (typeof STATES)[number], { eve, dan }: Round, done: Done[]): Promise<void> {
    const was = (name: string, answered = 200) =>
      done.filter((one) => one.name === name && one.code === answered).length;
    const told = (answer: string) => done.filter((one) => one.state === answer).length;
    const closed = await isClosed(eve);
    const startedOver = closed && was('close_account') === 0;
    const idsBy = (...names: string[]) =>
      new Set(done.filter((one) => names.includes(one.name) && one.code === 200).map(idIn));
    const newIds = idsBy('register', 'register_by_token');
    // A token that was sent again opens the account that it opened before.
    newIds.delete(eve.id);
    const [newId] = newIds;
    const holder = await holderOf(eve);
    const seen = { seed, state, done: done.map(({ name, code, state }) => `${name} ${code} ${state}`) };
    const expectIt = (rule: string, holds: boolean) =>
      expect({ ...seen, rule, holds }).toEqual({ ...seen, rule, holds: true });

    for (const { name, code } of done) expectIt(`${name} has an answer that is known`, ALLOWED.includes(code));
    if (closed) expect({ ...seen, rows: await rowsOf(eve.id) }).toEqual({ ...seen, rows: NOTHING });
    expectIt(
      'the account is closed only by an answer that says so',
      !closed || told('free') + was('close_account') > 0,
    );
    expectIt('free: no account of Eve has the number', told('free') === 0 || holder !== eve.id);
    expectIt('an account that is awake is not closed', !startedOver || state === 'asleep' || state === 'due');
    expectIt('a login keeps an account that was asleep', !startedOver || state !== 'asleep' || was('login') === 0);
    expectIt('a sign-in by a code is not followed by a closing', !startedOver || !idsBy('login_by_token').has(eve.id));
    for (const name of ['keep_number', 'reset_password', 'change_phone', 'suspend'])
      expectIt(`${name} is not followed by a closing`, !startedOver || was(name) === 0);
    expectIt('one takes the number', newIds.size + was('change_phone of another') <= 1);
    if (newId) expectIt('the new account has the number, and another id', holder === newId && newId !== eve.id);
    if (was('change_phone of another') > 0) expectIt('Dan has the number', holder === dan.id);
    if (!newId) return;
    const { friendships, memberships } = await rowsOf(newId);
    expect({ ...seen, friendships, memberships }).toEqual({ ...seen, friendships: 0, memberships: 0 });
  }

  it('closes no account that is kept, gives the number to one, and leaves nothing behind', async () => {
    const others = [await instance(), await instance()] as const;
    const choices = new Choices(seed);
    const client = await settledClient(ann);
    for (let round = 0; round < ROUNDS; round += 1) await play(choices, others, await insertAndSignIn(app, 'Dan'));
    await client.sync();
    expect({ seed, state: client.state() }).toEqual({ seed, state: await fullState(ann) });
    const friends = client.state().friends.map(({ friendId }) => friendId);
    const open = await app.db('users').whereIn('id', friends).where({ closed_at: null }).pluck<string[]>('id');
    expect(friends.sort()).toEqual(open.sort());
    const deadlocks = [app, ...others].flatMap(({ logged }) => logged()).map((line) => JSON.stringify(line));
    expect({ seed, deadlocks: deadlocks.filter((line) => line.includes('deadlock detected')) }).toEqual({
      seed,
      deadlocks: [],
    });
  }, 600_000);
});

describe('starting over', () => {
  let eve: Person;
  beforeEach(async () => {
    eve = await insertPerson(app, 'Eve');
  });
  afterEach(() => jest.restoreAllMocks());

  const sessionOf = () => signIn(app, eve);
  const claimDue = async () => {
    expect(stateIn(await startOver(await proofOf(eve)))).toBe('claimed');
    await app
      .db('number_claims')
      .where({ user_id: eve.id })
      .update({ due_at: app.db.raw(`now() - interval '1 minute'`) });
  };
  const eventsOf = () => app.db('security_events').where({ user_id: eve.id }).orderBy('id').pluck<string[]>('event');

  // guard start-over-races-1: a token is not used by others while it starts over
  // src/features/verification/verification-tokens-repository.ts
  // - const held = this.goodToken(tokenHash).whereRaw(GOOD_FOR_ITS_ACCOUNT).forUpdate();
  // + const held = this.goodToken(tokenHash).whereRaw(GOOD_FOR_ITS_ACCOUNT);
  it('waits for a registration with the same token, and then finds the token used', async () => {
    const phone = newPhone();
    const token = await proofOf(phone);
    const owner = { number: e164(phone), region: '44', language: '', isTest: false };
    // The steps of register, in turn.
    const answer = await whileOpen(
      app,
      (trx) => new VerificationTokensRepository(trx).useToken(tokenHash(token), e164(phone)),
      () => startOver(token),
      (trx) => new UsersRepository(trx).claimPhone(owner, eve.id),
    );
    expectRefusal(answer, 400, 'verification_token', 'wrong_token');
    expect(await app.db('number_claims').where({ user_id: eve.id })).toEqual([]);
  });

  // guard start-over-races-2: an account is locked before it is taken for asleep
  // src/features/account/number-claims-service.ts
  // - if (!(await repos.users.lock(account.id, account.credentialsVersion))) throw new Overtaken();
  it('waits for a login, and then finds the account awake', async () => {
    await sleep(eve);
    const token = await proofOf(eve);
    /** The steps of a login. */
    const logIn = async (trx: Knex) => {
      await trx('users').where({ id: eve.id }).forShare();
      await trx('phones').where({ user_id: eve.id }).update({ awake_at: trx.fn.now() });
    };
    expect(stateIn(await whileOpen(app, logIn, () => startOver(token)))).toBe('claimed');
    expect(await isClosed(eve)).toBe(false);
  });

  it('lets a login wait, which then finds the account closed', async () => {
    await sleep(eve);
    const token = await proofOf(eve);
    const { region, phone, password } = eve;
    const logIn = () => post(app.api, '/user/login', { region, phone, password });
    const lock = 'SELECT FROM phones WHERE user_id = ? FOR UPDATE';
    const [started, login] = await whileHeld(app, lock, [eve.id], [() => startOver(token), logIn]);
    expect([started.body, login.body]).toEqual([FREE, { code: 1000 }]);
    expect(await rowsOf(eve.id)).toEqual(NOTHING);
  });

  // guard start-over-races-3: an account whose credentials have changed is read again
  // src/features/account/number-claims-service.ts
  // - if (!(await repos.users.lock(account.id, account.credentialsVersion))) throw new Overtaken();
  // + await repos.users.lock(account.id, account.credentialsVersion);
  it('waits for a new password, after which the claim is void, though it was due', async () => {
    await sessionOf();
    await claimDue();
    const token = await proofOf(eve);
    const changePassword = (trx: Knex) => new UsersRepository(trx).changePassword(eve.id, 0, 'another');
    expect(stateIn(await whileOpen(app, changePassword, () => startOver(token)))).toBe('claimed');
    expect(await isClosed(eve)).toBe(false);
  });

  // guard start-over-races-4: a phone that has just been freed is read again
  // src/features/account/number-claims-service.ts
  // - if (isAsleep === undefined) throw new Overtaken();
  it('does not take an account for that of a phone that another service has just freed', async () => {
    const token = await proofOf(eve);
    const gate = new Gate();
    let asked = 0;
    // Between the look-up of the phone and that of its account.
    watchStatements('SELECT user_id AS "userId" FROM phones', {
      value: e164(eve),
      beforeAnswer: () => (asked++ === 0 ? gate.wait() : Promise.resolve()),
    });
    const answer = startOver(token);
    await gate.reached;
    await app.db('phones').where({ user_id: eve.id }).delete();
    gate.open();
    expectBody(await answer, FREE);
    expect(await app.db('number_claims').where({ user_id: eve.id })).toEqual([]);
  });

  it('closes an account once, and claims a number once, however many ask', async () => {
    const instances = [app, await instance(), await instance()];
    const askAll = async () => {
      const tokens = [await proofOf(eve), await proofOf(eve)];
      const calls = instances.flatMap((on) => tokens.map((token) => startOver(token, on)));
      return new Set((await Promise.all(calls)).map(({ body }) => JSON.stringify(body)));
    };
    expect((await askAll()).size).toBe(1);
    expect(await eventsOf()).toEqual(['number_claimed']);
    await sleep(eve);
    expect([...(await askAll())]).toEqual([JSON.stringify(FREE)]);
    expect(await eventsOf()).toEqual(['number_claimed', 'account_closed']);
  });
});

describe('a crash while an account is started over', () => {
  let proxy: FaultProxy;
  let crashing: TestApp;
  beforeAll(async () => {
    proxy = await FaultProxy.start(app.databaseUrl);
    crashing = await startApp({}, { databaseUrl: proxy.url, dataDir: app.dataDir });
  });
  afterAll(async () => {
    proxy.resume();
    await crashing.close();
    await proxy.close();
  });

  /** The statements of start_over in their order, by a part of each, and whether the account is closed by then. */
  const POINTS: [string, boolean][] = [
    ['from "verification_tokens" where', false],
    ['phone-owner', false],
    ['for no key update', false],
    ['phone-unused', false],
    ['session-of-user', false],
    ['number-claims-of-user', false],
    ['update "users" set "nickname"', false],
    ['delete from "phones"', false],
    ['delete from "session"', false],
    ['add-security-event', false],
    ['delete from "number_claims"', false],
    ['delete from "messaging_tokens"', false],
    ['COMMIT;', false],
    ['SET status = false', true],
    [`SET status = 30, display_name = ''`, true],
    ['WHERE friend_id = $1', true],
    ['delete from "account_closings"', true],
  ];

  it.each(POINTS)('at %s leaves it whole or closed, and the next call goes on', async (words, isEnded) => {
    const eve = await insertFriend();
    await sleep(eve);
    const client = await settledClient(ann);
    const token = await proofOf(eve);
    // At each attempt: a transaction that was cut before its COMMIT runs again.
    proxy.cutAt(words);
    const { status } = await startOver(token, crashing);
    proxy.resume();
    expect([words, status]).toEqual([words, isEnded ? 200 : 503]);
    expect([words, await isClosed(eve)]).toEqual([words, isEnded]);
    if (!isEnded) expect(await holderOf(eve)).toBe(eve.id);

    expectBody(await startOver(token), FREE);
    const { body } = await post(app.api, '/user/register', registration(token));
    const id = String(field(field(body, 'result'), 'id'));
    expect(await holderOf(eve)).toBe(id);
    await app.sweep();
    expect(await rowsOf(eve.id)).toEqual(NOTHING);
    expect(await rowsOf(id)).toEqual({ ...NOTHING, phones: 1 });
    await client.sync();
    expect(client.state()).toEqual(await fullState(ann));
    expect(JSON.stringify(client.state())).not.toContain(eve.id);
  });
});
