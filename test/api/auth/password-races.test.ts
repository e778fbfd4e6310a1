import type { Knex } from 'knex';
import { tokenHash } from '../../../src/base/secrets';
import { UsersRepository } from '../../../src/features/users/users-repository';
import { VerificationRepository } from '../../../src/features/verification/verification-repository';
import { VerificationTokensRepository } from '../../../src/features/verification/verification-tokens-repository';
import { newVerificationToken } from '../../../src/features/verification/verification-token';
import { expectBody, expectRefusal, post, type Answer } from '../../support/calls';
import {
  e164,
  insertAndSignIn,
  insertPerson,
  newPassword,
  newPhone,
  verificationToken,
  type PhoneFields,
} from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { whileHeld, whileOpen } from '../../support/waiting';

const { app } = stage();

/** Runs `work` in a transaction of the test, and commits it. */
async function inTransaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
  return app.db.transaction(work);
}

async function sendCode({ region, phone }: PhoneFields): Promise<string> {
  expectBody(await post(app.api, '/user/send_code', { region, phone }), { code: 200 });
  return app.sms.codeFor(e164({ region, phone }));
}

/** Does what verify_code does with a right code. */
async function exchange(trx: Knex, phone: PhoneFields, token: string): Promise<boolean> {
  const { id } = await app
    .db('verification_codes')
    .where({ phone: e164(phone) })
    .orderBy('id', 'desc')
    .first<{ id: number }>('id');
  const owner = { number: e164(phone), region: String(phone.region) };
  return new VerificationRepository(trx).exchange(id, owner, tokenHash(token), 1_800);
}

const endAll = (phone: PhoneFields) =>
  inTransaction((trx) => new VerificationTokensRepository(trx).endAll(e164(phone)));

const tokensOf = (phone: PhoneFields) =>
  app
    .db('verification_tokens')
    .where({ phone: e164(phone) })
    .then((rows: unknown[]) => rows.length);

const reset = (verification_token: string, password = newPassword()) =>
  post(app.api, '/user/reset_password', { verification_token, password });

interface Ending {
  phone: PhoneFields;
  end: () => Promise<Answer>;
  /** Used tokens that are kept for a minute. By default none. */
  left?: number;
}

/** Operations that end all codes and tokens of a phone. */
const ENDINGS: [string, () => Promise<Ending>][] = [
  [
    'reset_password',
    async () => {
      const person = await insertPerson(app);
      const token = await verificationToken(app, person);
      return { phone: person, end: () => reset(token) };
    },
  ],
  [
    'change_password',
    async () => {
      const person = await insertAndSignIn(app);
      const passwords = { oldPassword: person.password, newPassword: newPassword() };
      return { phone: person, end: () => post(person.agent, '/user/change_password', passwords) };
    },
  ],
  [
    'register',
    async () => {
      const phone = newPhone();
      const verification_token = await verificationToken(app, phone);
      const body = { nickname: 'Ann', password: newPassword(), verification_token };
      return { phone, end: () => post(app.api, '/user/register', body) };
    },
  ],
  [
    'login_by_token',
    async () => {
      const person = await insertPerson(app);
      const verification_token = await verificationToken(app, person);
      return { phone: person, end: () => post(app.api, '/user/login_by_token', { verification_token }), left: 1 };
    },
  ],
  [
    'register_by_token',
    async () => {
      const phone = newPhone();
      const body = { nickname: 'Ann', verification_token: await verificationToken(app, phone) };
      return { phone, end: () => post(app.api, '/user/register_by_token', body), left: 1 };
    },
  ],
  [
    'set_password',
    async () => {
      const person = await insertAndSignIn(app);
      await app.db('users').where({ id: person.id }).update({ password_hash: '' });
      const body = { password: newPassword(), verification_token: await verificationToken(app, person) };
      return { phone: person, end: () => post(person.agent, '/user/set_password', body) };
    },
  ],
];

describe('exchanging a code during an operation that ends codes', () => {
  // guard password-races-1: a code that is being exchanged leaves no token after a new password
  // src/features/verification/verification-tokens-repository.ts
  // -   async endAll(phone: string): Promise<void> {
  // -     await lockCodes(this.db, { phone });
  // + async endAll(phone: string): Promise<void> {
  // guard password-races-2: a code that is being exchanged leaves no token after another token is used
  // src/features/verification/verification-tokens-repository.ts
  // -   Promise<boolean> {
  // -     await lockCodes(this.db, { phone });
  // + Promise<boolean> {
  it.each(ENDINGS)('leaves no token after %s', async (_name, prepared) => {
    const { phone, end, left = 0 } = await prepared();
    await sendCode(phone);
    const token = rememberSecret(newVerificationToken());
    const exchanging = async (trx: Knex) => expect(await exchange(trx, phone, token)).toBe(true);
    expect((await whileOpen(app, exchanging, end)).status).toBe(200);
    expect(await tokensOf(phone)).toBe(left);
    expectRefusal(await reset(token), 400, 'verification_token');
  });

  // guard password-races-3: a code that a new password has ended is not exchanged
  // src/features/verification/verification-repository.ts
  // - WHERE id = :id AND verified_at IS NULL AND expires_at > now()
  // + WHERE id = :id AND verified_at IS NULL
  it('gives no token once a new password has ended the code, even if it was compared before', async () => {
    const person = await insertPerson(app);
    const code = await sendCode(person);
    const { region, phone } = person;
    const verified = await whileHeld(
      app,
      // The rows that verify_code needs between the comparison and the exchange.
      'SELECT FROM rate_limits WHERE key IN (?, ?) FOR UPDATE',
      [`resend:${e164(person)}`, `resend_known:${e164(person)}`],
      () => post(app.api, '/user/verify_code', { region, phone, code }),
      () => endAll(person),
    );
    expect(verified.body).toEqual({ code: 2000 });
    expect(await tokensOf(person)).toBe(0);
  });

  // guard password-races-4: a code that a new password has ended is not exchanged by an exchange that began before
  // src/features/verification/verification-tokens-repository.ts
  // - SET expires_at = created_at WHERE phone = ${phone}
  // + SET expires_at = now() WHERE phone = ${phone}
  it('gives no token when the exchange began before the new password did', async () => {
    const person = await insertPerson(app);
    await sendCode(person);
    await inTransaction(async (trx) => {
      // From here on the transaction's time does not advance.
      await trx.raw('SELECT now()');
      await endAll(person);
      expect(await exchange(trx, person, newVerificationToken())).toBe(false);
    });
    expect(await tokensOf(person)).toBe(0);
  });
});

describe('changing a password', () => {
  // guard password-races-5: changing and resetting a password lock in the same order
  // src/features/auth/auth-service.ts
  // - await repos.verificationTokens.endAll(number);
  // - const changed = await repos.users.changePassword(account.id, account.credentialsVersion, passwordHash);
  // - if (!changed) throw new WrongPassword('oldPassword');
  // + const changed = await repos.users.changePassword(account.id, account.credentialsVersion, passwordHash);
  // + if (!changed) throw new WrongPassword('oldPassword');
  // + await repos.verificationTokens.endAll(number);
  it('waits for a concurrent reset without holding locks that the reset needs', async () => {
    const person = await insertAndSignIn(app);
    const token = await verificationToken(app, person);
    const passwords = { oldPassword: person.password, newPassword: newPassword() };
    // The steps of reset_password, in turn.
    const useToken = async (trx: Knex) =>
      expect(await new VerificationTokensRepository(trx).useToken(tokenHash(token), e164(person))).toBe(true);
    const changed = await whileOpen(
      app,
      useToken,
      () => post(person.agent, '/user/change_password', passwords),
      (trx) => new UsersRepository(trx).resetPassword(person.id, 'another'),
    );
    expectRefusal(changed, 400, 'oldPassword');
  });
});
