// Two users' life with the client of @hey-api/openapi-ts.
import { createClient } from './client/client';
import * as accounts from './client';
import { ANN, BEN, codeFor, NOBODY, ownFetch, PASSWORD, same, URL } from './people';

async function arrives(nickname: string, phone: typeof ANN) {
  const client = createClient({ baseUrl: URL, fetch: ownFetch() });
  await accounts.userSendCode({ client, body: phone });
  const verified = await accounts.userVerifyCode({ client, body: { ...phone, code: codeFor(phone.phone) } });
  if (verified.data?.code !== 200) throw new Error('the right code is refused');
  const { verification_token } = verified.data.result;
  const made = await accounts.userRegister({ client, body: { nickname, password: PASSWORD, verification_token } });
  const wrong = await accounts.userLogin({ client, body: { ...phone, password: 'opensesam' } });
  same('wrong password', wrong.data, { code: 1000 });
  const { data } = await accounts.userLogin({ client, body: { ...phone, password: PASSWORD } });
  if (data?.code !== 200) throw new Error('the right password is refused');
  same('logged in', data.result.id, made.data?.result.id);
  return { client, id: data.result.id };
}

async function life() {
  const [ann, ben] = [await arrives('Ann', ANN), await arrives('Ben', BEN)];
  const asked = await accounts.friendshipInvite({ client: ann.client, body: { friendId: ben.id } });
  same('asked', asked.data?.result.action, 'Sent');
  await accounts.friendshipAgree({ client: ben.client, body: { friendId: ann.id } });
  const friends = await accounts.friendshipAll({ client: ann.client });
  same('friends', friends.data?.result[0]?.status, 20);

  const made = await accounts.groupCreate({ client: ann.client, body: { name: 'Choir', memberIds: [ben.id] } });
  if (made.data?.code !== 200) throw new Error('no group');
  const { id } = made.data.result;
  const members = await accounts.groupByIdMembers({ client: ben.client, path: { id } });
  same('members', members.data?.result.length, 2);

  const first = (await accounts.userSyncByVersion({ client: ben.client, path: { version: 0 } })).data?.result;
  same('synchronised', [first?.friends.length, first?.groups.length, first?.group_members.length], [1, 1, 2]);
  const path = { version: first?.version ?? 0 };
  const again = (await accounts.userSyncByVersion({ client: ben.client, path })).data?.result;
  same('again', [again?.friends, again?.groups, again?.group_members], [[], [], []]);

  const nobody = await accounts.userFindByRegionAndPhone({ client: ann.client, path: NOBODY });
  if (nobody.error?.code !== 404) throw new Error('no 404');
  same('404', nobody.error.reason satisfies 'no_such_user', 'no_such_user');
  await accounts.userLogout({ client: ann.client });
  const out = await accounts.userGroups({ client: ann.client });
  if (out.error?.code !== 401) throw new Error('no 401');
  same('401', out.error.reason satisfies 'not_signed_in', 'not_signed_in');
}

void life().then(() => process.stdout.write('played to its end\n'));
