import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestApp } from '../../support/app';
import { expectBody, post } from '../../support/calls';
import { expectWholeGroup, rolesIn } from '../../support/groups';
import {
  e164,
  expectOk,
  newPassword,
  newPhone,
  signIn,
  verificationToken,
  type PhoneFields,
} from '../../support/people';
import { stage } from '../../support/stage';
import { fullState, NAMES } from '../../support/sync';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'from-sealtalk.md'), 'utf8');
const [, IMPORT = ''] = /```sql\n(.*?)```/s.exec(page) ?? [];

/** A name of 60 bytes, and as much of it as surely fits. */
const LONG = { kept: '山'.repeat(20), cut: '山'.repeat(8) };

/** The columns that the import reads, as the other server names them. */
const TABLES = `
  CREATE SCHEMA sealtalk;
  CREATE TABLE sealtalk.users (id text, region text, phone text, nickname text, "portraitUri" text, "deletedAt" timestamptz);
  CREATE TABLE sealtalk.friendships ("userId" text, "friendId" text, "displayName" text, status integer);
  CREATE TABLE sealtalk.blacklists ("userId" text, "friendId" text, status boolean);
  CREATE TABLE sealtalk.groups (id text, name text, "portraitUri" text, "creatorId" text, "deletedAt" timestamptz);
  CREATE TABLE sealtalk.group_members
    ("groupId" text, "memberId" text, "displayName" text, role integer, "isDeleted" boolean);`;

describe('the import of docs/from-sealtalk.md', () => {
  const { app } = stage({ eachTest: true });

  it('imports users, friendships and groups, and their owners can log in after a password reset', async () => {
    const phone = newPhone();
    await makeTables(app, phone);
    await app.db.raw(IMPORT);

    const before = { ...phone, password: newPassword() };
    expectBody(await post(app.api, '/user/login', before), { code: 1000 });
    const password = newPassword();
    const verification_token = await verificationToken(app, phone);
    await expectOk(app.api.post('/user/reset_password').send({ password, verification_token }));
    const ann = await signIn(app, { ...phone, id: 'annOfBefore', nickname: '<Ann>', password });

    const { user, friends, blacklist, groups } = await fullState(ann, NAMES);
    expect(user).toMatchObject({ id: 'annOfBefore', nickname: '<Ann>' });
    expect(friends).toMatchObject([
      { friendId: 'bobOfBefore', status: 20, displayName: '<Bobby', user: { nickname: LONG.cut } },
      { friendId: 'catOfBefore', status: 20 },
    ]);
    expect(await app.db('friendships').where({ friend_id: 'catOfBefore' }).pluck('user_id')).toEqual(['annOfBefore']);
    expect(blacklist).toMatchObject([{ friendId: 'catOfBefore', status: true }]);
    expect(groups).toMatchObject([{ role: 1, group: { id: 'hikersOfBefore', name: '<Hikers>' } }]);
    expect(await rolesIn(app, 'hikersOfBefore')).toEqual({ annOfBefore: 1, bobOfBefore: 0, catOfBefore: 2 });
    await expectWholeGroup(app, 'hikersOfBefore');
    expect(await app.db('users').pluck('id')).not.toContain('gone');
  });
});

async function makeTables({ db }: TestApp, ann: PhoneFields): Promise<void> {
  await db.raw(TABLES);
  const deletedAt = new Date();
  const rowsOf = (table: string) => db.withSchema('sealtalk').table(table);
  const users = [
    { id: 'annOfBefore', phone: e164(ann).slice('+44'.length), nickname: '&lt;Ann&gt;' },
    { id: 'bobOfBefore', phone: '7400999001', nickname: LONG.kept },
    { id: 'catOfBefore', phone: '7400999002', nickname: 'Cat' },
    { id: 'gone', phone: '7400999003', nickname: 'Gone', deletedAt },
  ];
  await rowsOf('users').insert(users.map((user) => ({ region: '44', portraitUri: '', ...user })));
  const friendship = (userId: string, friendId: string, status: number, displayName = '') => ({
    userId,
    friendId,
    status,
    displayName,
  });
  await rowsOf('friendships').insert([
    friendship('annOfBefore', 'bobOfBefore', 20, '&lt;Bobby'),
    friendship('bobOfBefore', 'annOfBefore', 20),
    friendship('annOfBefore', 'catOfBefore', 31),
    friendship('catOfBefore', 'annOfBefore', 20),
    friendship('bobOfBefore', 'catOfBefore', 30),
    friendship('annOfBefore', 'gone', 20),
  ]);
  await rowsOf('blacklists').insert([
    { userId: 'annOfBefore', friendId: 'catOfBefore', status: true },
    { userId: 'annOfBefore', friendId: 'bobOfBefore', status: false },
  ]);
  await rowsOf('groups').insert([
    { id: 'hikersOfBefore', name: '&lt;Hikers&gt;', portraitUri: '', creatorId: 'bobOfBefore' },
    { id: 'dismissedOfBefore', name: 'Dismissed', portraitUri: '', creatorId: 'bobOfBefore', deletedAt },
  ]);
  const member = (groupId: string, memberId: string, role: number, isDeleted = false) => ({
    groupId,
    memberId,
    role,
    isDeleted,
    displayName: '',
  });
  await rowsOf('group_members').insert([
    member('hikersOfBefore', 'annOfBefore', 1),
    member('hikersOfBefore', 'bobOfBefore', 0),
    member('hikersOfBefore', 'catOfBefore', 2),
    member('hikersOfBefore', 'gone', 1),
    member('dismissedOfBefore', 'annOfBefore', 1),
    member('hikersOfBefore', 'annOfBefore', 1, true),
  ]);
}
