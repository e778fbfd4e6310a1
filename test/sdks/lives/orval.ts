// Two users' life with the client of orval.
import * as accounts from './client';
import { ANN, BEN, codeFor, NOBODY, ownFetch, PASSWORD, same } from './people';

/** Its functions call the global fetch, so this sets one with the cookies of the user whose turn it is. */
const as = (user: { cookies: typeof fetch }) => (globalThis.fetch = user.cookies);

async function arrives(nickname: string, phone: typeof ANN) {
  const user = { cookies: ownFetch(), id: '' };
  as(user);
  await accounts.userSendCode(phone);
  const verified = (await accounts.userVerifyCode({ ...phone, code: codeFor(phone.phone) })).data;
  if (verified.code !== 200) throw new Error('the right code is refused');
  const { verification_token } = verified.result;
  const made = await accounts.userRegister({ nickname, password: PASSWORD, verification_token });
  same('wrong password', (await accounts.userLogin({ ...phone, password: 'opensesam' })).data, { code: 1000 });
  const login = (await accounts.userLogin({ ...phone, password: PASSWORD })).data;
  if (login.code !== 200 || made.data.code !== 200) throw new Error('the right password is refused');
  same('logged in', login.result.id, made.data.result.id);
  return { ...user, id: login.result.id };
}

async function life() {
  const [ann, ben] = [await arrives('Ann', ANN), await arrives('Ben', BEN)];
  as(ann);
  same('asked', (await accounts.friendshipInvite({ friendId: ben.id })).data, {
    code: 200,
    result: { action: 'Sent' },
  });
  as(ben);
  await accounts.friendshipAgree({ friendId: ann.id });
  as(ann);
  const friends = (await accounts.friendshipAll()).data;
  same('friends', friends.code === 200 && friends.result[0]?.status, 20);

  const made = (await accounts.groupCreate({ name: 'Choir', memberIds: [ben.id] })).data;
  if (made.code !== 200) throw new Error('no group');
  as(ben);
  const members = (await accounts.groupByIdMembers(made.result.id)).data;
  same('members', members.code === 200 && members.result.length, 2);

  const first = (await accounts.userSyncByVersion(0)).data;
  if (first.code !== 200) throw new Error('no sync');
  const { friends: rows, groups, group_members } = first.result;
  same('synchronised', [rows.length, groups.length, group_members.length], [1, 1, 2]);
  const again = (await accounts.userSyncByVersion(first.result.version)).data;
  if (again.code !== 200) throw new Error('no sync');
  same('again', [again.result.friends, again.result.groups, again.result.group_members], [[], [], []]);

  as(ann);
  const nobody = (await accounts.userFindByRegionAndPhone(NOBODY.region, NOBODY.phone)).data;
  if (nobody.code !== 404) throw new Error('no 404');
  same('404', nobody.reason satisfies 'no_such_user', 'no_such_user');
  await accounts.userLogout();
  const out = (await accounts.userGroups()).data;
  if (out.code !== 401) throw new Error('no 401');
  same('401', out.reason satisfies 'not_signed_in', 'not_signed_in');
}

void life().then(() => process.stdout.write('played to its end\n'));
