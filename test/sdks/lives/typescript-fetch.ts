// Two users' life with OpenAPI Generator's client typescript-fetch.
import * as accounts from './client';
import { ANN, BEN, codeFor, NOBODY, ownFetch, PASSWORD, same, URL } from './people';

/** Reads an answer that may be a return code: the generated functions confuse the two, and drop the result. */
async function told<Answer>({ raw }: { raw: Response }): Promise<Answer> {
  return (await raw.json()) as Answer;
}

async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (!(error instanceof accounts.ResponseError)) throw new Error('not refused');
  return [error.response.status, ((await error.response.json()) as accounts.BadRequestRefusal).reason];
}

async function arrives(nickname: string, phone: typeof ANN) {
  const settings = new accounts.Configuration({ basePath: URL, fetchApi: ownFetch() });
  const [login, codes] = [new accounts.LoginAndPasswordsApi(settings), new accounts.VerificationApi(settings)];
  await codes.userSendCode({ codeToSend: phone });
  const codeToVerify = { ...phone, code: codeFor(phone.phone) };
  const verified = await told<accounts.UserVerifyCodeSuccess>(await codes.userVerifyCodeRaw({ codeToVerify }));
  const registration = { nickname, password: PASSWORD, verificationToken: verifiedToken(verified) };
  const made = await login.userRegister({ registration });
  const wrong = await login.userLogin({ credentials: { ...phone, password: 'opensesam' } });
  same('wrong password', wrong, { code: 1000 });
  const credentials = { ...phone, password: PASSWORD };
  const { result } = await told<accounts.UserLoginSuccess>(await login.userLoginRaw({ credentials }));
  same('logged in', result.id, made.result.id);
  return { settings, id: result.id };
}

function verifiedToken(answer: object): string {
  return accounts.UserVerifyCodeSuccessFromJSON(answer).result.verificationToken;
}

async function life() {
  const [ann, ben] = [await arrives('Ann', ANN), await arrives('Ben', BEN)];
  const [friends, others] = [ann, ben].map(({ settings }) => new accounts.FriendshipsApi(settings));
  const asked = await friends?.friendshipInvite({ invitation: { friendId: ben.id } });
  same('asked', asked?.result.action, 'Sent');
  await others?.friendshipAgree({ oneFriend: { friendId: ann.id } });
  same('friends', (await friends?.friendshipAll())?.result[0]?.status, 20);

  const groupToCreate = { name: 'Choir', memberIds: [ben.id] };
  const groups = new accounts.GroupsApi(ann.settings);
  const made = await told<accounts.GroupCreateSuccess>(await groups.groupCreateRaw({ groupToCreate }));
  const { id } = made.result;
  same('members', (await new accounts.GroupsApi(ben.settings).groupByIdMembers({ id })).result.length, 2);

  const sync = new accounts.SyncApi(ben.settings);
  const first = (await sync.userSyncByVersion({ version: 0 })).result;
  same('synchronised', [first.friends.length, first.groups.length, first.groupMembers.length], [1, 1, 2]);
  const again = (await sync.userSyncByVersion({ version: first.version })).result;
  same('again', [again.friends, again.groups, again.groupMembers], [[], [], []]);

  const users = new accounts.UsersApi(ann.settings);
  same('404', await refusalOf(users.userFindByRegionAndPhone(NOBODY)), [404, 'no_such_user']);
  await new accounts.LoginAndPasswordsApi(ann.settings).userLogout();
  same('401', await refusalOf(groups.userGroups()), [401, 'not_signed_in']);
}

void life().then(() => process.stdout.write('played to its end\n'));
