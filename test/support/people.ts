import { randomBytes, randomInt } from 'node:crypto';
import { Passwords } from '../../src/features/auth/passwords';
import type request from 'supertest';
import { newUserId } from '../../src/features/users/user-id';
import type { TestApp } from './app';
import type { Answer } from './calls';
import { otherServers } from './database';
import { rememberSecret } from './secrets';

const MONTH_MS = 30 * 86_400_000;

export interface PhoneFields {
  region: number;
  phone: number;
}

/**
 * Returns a British mobile that no other test uses. Below 7450, for 74576 is the Isle of Man, another country to the
 * spend guard.
 */
export function newPhone(): PhoneFields {
  const phone = 7_400_000_000 + randomInt(50_000_000);
  // A log contains no full phone number either.
  rememberSecret(String(phone));
  rememberSecret(`44${phone}`);
  return { region: 44, phone };
}

export function e164({ region, phone }: PhoneFields): string {
  return `+${region}${phone}`;
}

export function newPassword(): string {
  return rememberSecret(`pw${newUserId()}`);
}

export interface Person extends PhoneFields {
  id: string;
  nickname: string;
  password: string;
}

export interface SignedInPerson extends Person {
  agent: ReturnType<typeof request.agent>;
}

/** Gets a token by the operations, like a client. */
export async function verificationToken(app: TestApp, phone: PhoneFields): Promise<string> {
  await expectOk(app.api.post('/user/send_code').send(phone));
  const code = app.sms.codeFor(e164(phone));
  const { result } = await expectOk(app.api.post('/user/verify_code').send({ ...phone, code }));
  return rememberSecret(String(field(result, 'verification_token')));
}

/** Ends the time that a phone must wait between two codes. */
export async function passResendTime({ db }: Pick<TestApp, 'db'>, phone: PhoneFields): Promise<void> {
  await db('rate_limits')
    .where('key', `resend:${e164(phone)}`)
    .delete();
}

/** Returns the body of /user/register. */
export async function registrationOf(app: TestApp, phone = newPhone(), nickname = 'Ann') {
  return { nickname, password: newPassword(), verification_token: await verificationToken(app, phone) };
}

export async function register(app: TestApp, phone = newPhone(), nickname = 'Ann'): Promise<Person> {
  const body = await registrationOf(app, phone, nickname);
  const { result } = await expectOk(app.api.post('/user/register').send(body));
  return { ...phone, id: String(field(result, 'id')), nickname, password: body.password };
}

export async function signIn(app: TestApp, person: Person): Promise<SignedInPerson> {
  const agent = app.agent();
  const { region, phone, password } = person;
  const { result } = await expectOk(agent.post('/user/login').send({ region, phone, password }));
  rememberSecret(String(field(result, 'token')));
  return { ...person, agent };
}

export async function registerAndSignIn(app: TestApp, nickname = 'Ann'): Promise<SignedInPerson> {
  return signIn(app, await register(app, newPhone(), nickname));
}

/** Inserts a person straight into the tables, for tests that need many. */
export async function insertPerson(app: TestApp, nickname = 'Bob', id = newUserId()): Promise<Person> {
  const phone = newPhone();
  const person = { ...phone, id, nickname, password: newPassword() };
  const passwordHash = await new Passwords(4).hash(person.password);
  await app.db('users').insert({ id: person.id, nickname, password_hash: passwordHash });
  await app.db('phones').insert({ phone: e164(phone), region: '44', user_id: person.id });
  return person;
}

/** Signs a person in by the operation, which also gives tokens, notes the place, and is in the audit trail. */
export async function insertAndLogIn(app: TestApp, nickname = 'Bob'): Promise<SignedInPerson> {
  return signIn(app, await insertPerson(app, nickname));
}

/** Inserts a person and a session, in a sixth of the time of `insertAndLogIn`. */
export async function insertAndSignIn(app: TestApp, nickname = 'Bob'): Promise<SignedInPerson> {
  // Citus cannot insert into three tables in one statement.
  if (otherServers().length > 0) return insertAndLogIn(app, nickname);
  const person = { ...newPhone(), id: newUserId(), nickname, password: newPassword() };
  const sid = rememberSecret(randomBytes(24).toString('base64url'));
  const now = Date.now();
  const cookie = {
    originalMaxAge: MONTH_MS,
    expires: new Date(now + MONTH_MS),
    secure: false,
    httpOnly: true,
    path: '/',
    sameSite: 'lax',
  };
  const session = { cookie, userId: person.id, createdAt: now, renewedAt: now, ip: '127.0.0.1', userAgent: '' };
  await app.db.raw(
    `WITH person AS (INSERT INTO users (id, nickname, password_hash) VALUES (?, ?, ?) RETURNING id, credentials_version),
          phone AS (INSERT INTO phones (phone, region, user_id) SELECT ?, '44', id FROM person)
     INSERT INTO session (sid, sess, expire)
       SELECT ?, ?::jsonb || jsonb_build_object('credentialsVersion', credentials_version), ? FROM person`,
    [
      person.id,
      nickname,
      await new Passwords(4).hash(person.password),
      e164(person),
      sid,
      JSON.stringify(session),
      cookie.expires,
    ],
  );
  const agent = app.agent();
  agent.jar.setCookie(app.sessionCookie(sid), new URL(app.url).hostname, '/');
  return { ...person, agent };
}

type SignedIn<Names> = { [Index in keyof Names]: SignedInPerson };

/** Returns as many people as there are names. */
export const insertAndSignInAll = <Names extends string[]>(app: TestApp, ...names: Names): Promise<SignedIn<Names>> =>
  inTurn(names, (name) => insertAndSignIn(app, name));

/** Like `insertAndSignInAll`, but by the operation. */
export const insertAndLogInAll = <Names extends string[]>(app: TestApp, ...names: Names): Promise<SignedIn<Names>> =>
  inTurn(names, (name) => insertAndLogIn(app, name));

async function inTurn<Names extends string[]>(names: Names, one: (name: string) => Promise<SignedInPerson>) {
  const people: SignedInPerson[] = [];
  for (const name of names) people.push(await one(name));
  return people as SignedIn<Names>;
}

/** Returns what other users see of a new account. */
export function profileOf({ id, nickname }: Pick<Person, 'id' | 'nickname'>) {
  return { id, nickname, portraitUri: '' };
}

export async function expectOk(answer: request.Test | Answer): Promise<{ code: number; result?: unknown }> {
  const { status, body } = (await answer) as { status: number; body: { code: number; result?: unknown } };
  expect({ status, body }).toMatchObject({ status: 200, body: { code: 200 } });
  return body;
}

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? value[name as keyof typeof value] : undefined;
}
