import type { Knex } from 'knex';
import { KnownPlaces } from '../../../src/features/audit/known-places';
import { SecurityEventsRepository } from '../../../src/features/audit/security-events-repository';
import { deviceCookieOf, expectRefusal, post } from '../../support/calls';
import { befriend } from '../../support/groups';
import { command, linesOf, noted, rowsOf } from '../../support/operator';
import { e164, field, insertPerson, newPassword, newPhone, verificationToken, type Person } from '../../support/people';
import { stage } from '../../support/stage';
import { sync } from '../../support/sync';
import { whileHeld, whileOpen } from '../../support/waiting';

const NOTIFY = { NOTIFY: 'sms', NOTIFY_TEXT_ACCOUNT_CLOSED: 'closed', NOTIFY_TEXT_PHONE_CHANGED: 'phone changed' };
const { app, ann, bob } = stage({ people: 2 });

const admin = (name: string, words: string[], options: Record<string, boolean> = {}) =>
  command(app, name, words, options, NOTIFY);
const logIn = ({ region, phone, password }: Omit<Person, 'id' | 'nickname'>) =>
  post(app.api, '/user/login', { region, phone, password });
const isSignedIn = async () => (await post(ann.agent, '/user/groups')).status === 200;
const eventsOf = (userId: string, event: string) => app.db('security_events').where({ user_id: userId, event });
const nicknameOf = async (id: string) =>
  field(field((await post(bob.agent, `/user/${id}`)).body, 'result'), 'nickname');

describe('users find', () => {
  // guard admin-users-8: a search of operators shows no whole phone
  // src/admin/lookups.ts
  // - map(({ phone }) => masked(phone));
  // + map(({ phone }) => phone);
  it('finds accounts by the beginning of an id or of a phone, whatever its spelling', async () => {
    const number = e164(ann);
    const masked = `${number.slice(0, 4)}…${number.slice(-2)}`;
    const spelt = `${number.slice(0, 3)} (${number.slice(3, 7)}) ${number.slice(7)}`;
    for (const text of [ann.id, ann.id.slice(0, 8), number, number.slice(0, -1), spelt]) {
      const found = rowsOf(await admin('users find', [text]), 'users');
      expect(found).toContainEqual(expect.objectContaining({ id: ann.id, nickname: 'Ann', phones: masked }));
    }
  });

  // guard admin-users-6: a search of operators reads no more than five accounts
  // src/admin/lookups.ts
  // - `SELECT id FROM users WHERE ${BEGINS('id')} ORDER BY id LIMIT ${MOST_FOUND}`
  // + `SELECT id FROM users WHERE ${BEGINS('id')}`
  it('lists those that match, five at most, and says when there are more', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `find-${index + 10}`);
    await app.db('users').insert(ids.map((id) => ({ id, nickname: 'Ann' })));
    const few = await admin('users find', ['find-17']);
    expect(rowsOf(few, 'users').map(({ id }) => id)).toEqual(['find-17']);
    expect(few).not.toHaveProperty('more');
    const many = await admin('users find', ['find-']);
    expect(rowsOf(many, 'users')).toHaveLength(5);
    expect(linesOf(many, 'more')).toContain('the first 5 ');
  });

  it.each([
    ['nobody-has-this', 'begins like this'],
    ['+99', 'with + and at least 4 digits'],
    ['a', 'give 3 characters of an id'],
    ["'; DROP TABLE users", 'give 3 characters of an id'],
  ])('tells in a sentence that %j finds nobody', async (text, message) => {
    await expect(admin('users find', [text])).rejects.toThrow(message);
  });
});

describe('users rename', () => {
  it('gives a user another nickname, which others and sync show, and names the operator', async () => {
    const before = (await sync(ann)).user;
    expect(rowsOf(await admin('users rename', [ann.id, 'Anna B.'], { dryRun: true }), 'would rename')).toHaveLength(1);
    expect(await nicknameOf(ann.id)).toBe('Ann');
    const told = rowsOf(await admin('users rename', [e164(ann), 'Anna B.']), 'renamed');
    expect(told).toEqual([{ id: ann.id, before: 'Ann', after: 'Anna B.' }]);
    expect(await nicknameOf(ann.id)).toBe('Anna B.');
    const after = (await sync(ann)).user;
    expect(Number(field(after, 'timestamp'))).toBeGreaterThan(Number(field(before, 'timestamp')));
    const masked = `${e164(ann).slice(0, 4)}…${e164(ann).slice(-2)}`;
    expect(await noted(app)).toMatchObject({ detail: `users rename ${masked} Anna B., by olga` });
  });

  // guard admin-users-1: a phone that an operator writes into a nickname is not in the audit trail
  // src/admin/perform.ts
  // - isId[index] ? word : withoutPhones(word)
  // + word
  it.each(['', ' ', '-'])(
    'masks a phone in a nickname in the audit trail, with "%s" between digits',
    async (between) => {
      const nickname = `call +${[...e164(ann).slice(1)].join(between)}`;
      await admin('users rename', [ann.id, nickname]);
      expect((await noted(app))?.detail).toBe(`users rename ${ann.id} call +…${nickname.slice(-2)}, by olga`);
    },
  );

  // guard admin-users-7: a change by an operator is among the events of its user
  // src/admin/perform.ts
  // - detailOf(command, input, context.operator), userId,
  // + detailOf(command, input, context.operator), userId && undefined,
  it('is found among the events of the user whom it was about', async () => {
    await admin('users rename', [e164(ann), 'Anna C.']);
    const details = await eventsOf(ann.id, 'operator').pluck<string[]>('detail');
    expect(details).toContain(`users rename +447…${e164(ann).slice(-2)} Anna C., by olga`);
  });

  it.each([
    ['', 'nickname: must be 1 to 32 bytes'],
    ['x'.repeat(33), 'nickname: must be 1 to 32 bytes'],
    ['a\nb', 'nickname: must not contain control characters'],
  ])('refuses the nickname %j like set_nickname', async (nickname, message) => {
    await expect(admin('users rename', [ann.id, nickname])).rejects.toThrow(message);
  });
});

describe('users close', () => {
  // guard admin-users-3: with --dry-run no account is closed
  // src/admin/users-commands.ts
  // - if (!options.dryRun) await (await context.services()).account.closeByOperator
  // + await (await context.services()).account.closeByOperator
  it('closes an account as its owner can, and tells the owner', async () => {
    await befriend(app, ann, [bob]);
    expect(rowsOf(await admin('users close', [ann.id], { dryRun: true }), 'would close')).toHaveLength(1);
    expect(await isSignedIn()).toBe(true);
    await admin('users close', [ann.id]);
    expectRefusal(await post(ann.agent, '/user/groups'), 401);
    expect((await logIn(ann)).body).toEqual({ code: 1000 });
    expectRefusal(await post(bob.agent, `/user/${ann.id}`), 404);
    expect(await app.db('friendships').where({ user_id: bob.id }).pluck('status')).toEqual([30]);
    expect(await eventsOf(ann.id, 'account_closed')).toMatchObject([{ user_agent: 'operator olga' }]);
    expect(await eventsOf(ann.id, 'notice_sent')).toMatchObject([{ detail: 'account_closed' }]);
    await expect(admin('users close', [ann.id])).rejects.toThrow('the account is closed');
  });

  // guard admin-users-4: a password that changes at that moment does not keep an operator from closing the account
  // src/features/account/account-service.ts
  // - if (!(error instanceof WrongPassword)) throw error;
  // + if (error) throw error;
  it('also closes an account whose password is changing at that moment', async () => {
    const change = 'UPDATE users SET credentials_version = credentials_version + 1 WHERE id = ?';
    const told = await whileHeld(app, change, [ann.id], () => admin('users close', [ann.id]));
    expect(rowsOf(told, 'closed')).toHaveLength(1);
    expect(await app.db('users').where({ id: ann.id }).whereNull('closed_at')).toEqual([]);
  });
});

describe('users set-phone', () => {
  it('gives an account another phone, and ends sessions and codes of the old one', async () => {
    const next = newPhone();
    const reset = { password: newPassword(), verification_token: await verificationToken(app, ann) };
    const told = rowsOf(await admin('users set-phone', [ann.id, e164(next)]), 'changed');
    expect(told).toMatchObject([{ id: ann.id, after: e164(next) }]);
    expectRefusal(await post(ann.agent, '/user/groups'), 401);
    expectRefusal(await post(app.api, '/user/reset_password', reset), 400);
    expect((await logIn(ann)).body).toEqual({ code: 1000 });
    expect((await logIn({ ...ann, ...next })).body).toMatchObject({ code: 200 });
    const changed = { user_agent: 'operator olga', detail: `before: +447…${e164(ann).slice(-2)}` };
    expect(await eventsOf(ann.id, 'phone_changed')).toMatchObject([changed]);
    expect(await eventsOf(ann.id, 'notice_sent')).toMatchObject([{ detail: 'phone_changed' }]);
    expect((await noted(app))?.detail).toBe(`users set-phone ${ann.id} +447…${e164(next).slice(-2)}, by olga`);
  });

  // guard admin-users-2: a phone that an operator sets cannot be taken away by a token that it had before
  // src/features/account/account-service.ts
  // - if (hash === undefined) await verificationTokens.endAll(next.number);
  // + if (hash === undefined) return;
  it('ends a verification token of the new phone, so that nobody takes it away again', async () => {
    const next = newPhone();
    const registration = { nickname: 'Cat', password: newPassword() };
    const verification_token = await verificationToken(app, next);
    await admin('users set-phone', [ann.id, e164(next)]);
    expectRefusal(await post(app.api, '/user/register', { ...registration, verification_token }), 404);
  });

  it('changes nothing with --dry-run', async () => {
    await admin('users set-phone', [ann.id, e164(newPhone())], { dryRun: true });
    expect(await app.db('phones').where({ user_id: ann.id }).pluck('phone')).toEqual([e164(ann)]);
    expect(await isSignedIn()).toBe(true);
  });

  it('refuses a phone that an account has', async () => {
    await expect(admin('users set-phone', [ann.id, e164(bob)])).rejects.toThrow(`is the phone of ${bob.id}`);
    await expect(admin('users set-phone', [ann.id, e164(ann)])).rejects.toThrow('is the phone of this account');
  });

  it('tells in a sentence that another account takes the phone at that moment', async () => {
    const next = e164(newPhone());
    const take = (trx: Knex) => trx('phones').insert({ phone: next, region: '44', user_id: bob.id });
    const changing = whileOpen(app, take, () => admin('users set-phone', [ann.id, next]));
    await expect(changing).rejects.toThrow('is the phone of another account');
    expect(await isSignedIn()).toBe(true);
  });
});

describe('devices forget', () => {
  // guard admin-users-5: addresses are strange again once an operator has them forgotten
  // src/features/audit/security-events-repository.ts
  // - , 'devices_forgotten'`;
  // + `;
  it('ends all sessions, and makes devices and addresses strange again; the password stays', async () => {
    const cat = await insertPerson(app, 'Cat');
    const places = new KnownPlaces(new SecurityEventsRepository(app.db));
    const device =
      deviceCookieOf(await logIn(cat))
        .split('=')[1]
        ?.split('.') ?? [];
    const known = { userId: device[0] ?? '', credentialsVersion: Number(device[1]) };
    const caller = (address: string) => ({ address, ip: address, userAgent: '', requestId: '' });
    const trust = (address: string) => places.trustOf(e164(cat), caller(address), known);
    expect([await trust('127.0.0.1'), await trust('203.0.113.9')]).toEqual(['known', 'known']);
    expect(rowsOf(await admin('devices forget', [cat.id]), 'ended')).toHaveLength(1);
    expect([await trust('127.0.0.1'), await trust('203.0.113.9')]).toEqual(['elsewhere', 'elsewhere']);
    expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [cat.id])).toEqual([]);
    expect(await eventsOf(cat.id, 'devices_forgotten')).toMatchObject([{ user_agent: 'operator olga' }]);
    expect((await logIn(cat)).body).toMatchObject({ code: 200 });
    expect(await trust('127.0.0.1')).toBe('known');
  });

  it('changes nothing with --dry-run', async () => {
    expect(rowsOf(await admin('devices forget', [ann.id], { dryRun: true }), 'would end')).toHaveLength(1);
    expect(await isSignedIn()).toBe(true);
  });
});
