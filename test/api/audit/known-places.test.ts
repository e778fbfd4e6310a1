import { KnownPlaces } from '../../../src/features/audit/known-places';
import { SecurityEventsRepository } from '../../../src/features/audit/security-events-repository';
import { expectBody, post } from '../../support/calls';
import { e164, insertPerson, newPassword, newPhone, registerAndSignIn, verificationToken } from '../../support/people';
import { stage } from '../../support/stage';

const { app } = stage();
let places: KnownPlaces;
beforeAll(() => {
  places = new KnownPlaces(new SecurityEventsRepository(app.db));
});

const at = (address: string) => ({ address, ip: address, userAgent: '', requestId: 'none' });
const HERE = at('127.0.0.1');
const ELSEWHERE = at('203.0.113.9');

/** Inserts a row of the audit trail, as a login from there leaves it. */
async function used(userId: string, ip: string, event = 'logged_in'): Promise<void> {
  await app.db('security_events').insert({ event, user_id: userId, ip, user_agent: '', request_id: 'none' });
}

describe('known places of an account', () => {
  it('are the addresses of its logins and of its registration', async () => {
    const ann = await registerAndSignIn(app);
    expect(await places.trustOf(e164(ann), HERE)).toBe('known');
    expect(await places.trustOf(e164(ann), ELSEWHERE)).toBe('elsewhere');
    expect(await places.trustOf(e164(newPhone()), HERE)).toBe('no account');
  });

  it('are the whole /64 with IPv6', async () => {
    const bob = await insertPerson(app);
    await used(bob.id, '2001:db8:1:2:3:4:5:6');
    expect(await places.trustOf(e164(bob), at('2001:db8:1:2::/64'))).toBe('known');
    expect(await places.trustOf(e164(bob), at('2001:db8:1:3::/64'))).toBe('elsewhere');
  });

  // guard known-places-2: a failed login does not make a place known
  // src/features/audit/security-events-repository.ts
  // - AND event IN ('registered', 'logged_in', ${FORGETTING})
  it('do not include addresses of failed logins', async () => {
    const bob = await insertPerson(app);
    await used(bob.id, HERE.ip, 'login_failed');
    expect(await places.trustOf(e164(bob), HERE)).toBe('elsewhere');
  });

  // guard known-places-1: a new password forgets the places where an account was used
  // src/features/audit/security-events-repository.ts
  // - WHERE id >= coalesce(
  // + WHERE id >= 0 * coalesce(
  it('are forgotten when the password changes, except for the place of the new one', async () => {
    const bob = await insertPerson(app);
    await used(bob.id, ELSEWHERE.ip);
    expect(await places.trustOf(e164(bob), ELSEWHERE)).toBe('known');
    const { region, phone } = bob;
    const token = await verificationToken(app, { region, phone });
    const reset = { verification_token: token, password: newPassword() };
    expectBody(await post(app.api, '/user/reset_password', reset), { code: 200 });
    expect(await places.trustOf(e164(bob), ELSEWHERE)).toBe('elsewhere');
    expect(await places.trustOf(e164(bob), HERE)).toBe('known');
  });

  // guard known-places-3: a device is a known place only of its own account, under its present password
  // src/features/audit/known-places.ts
  // - return isCurrent ?
  // + return device ?
  it('include devices, under the password with which they were signed in', async () => {
    const bob = await insertPerson(app);
    const [row] = await app.db('users').where({ id: bob.id }).select<{ v: number }[]>({ v: 'credentials_version' });
    const device = { userId: bob.id, credentialsVersion: Number(row?.v) };
    expect(await places.trustOf(e164(bob), ELSEWHERE, device)).toBe('known');
    expect(await places.trustOf(e164(bob), ELSEWHERE, { ...device, userId: 'somebody' })).toBe('elsewhere');
    const older = { ...device, credentialsVersion: device.credentialsVersion - 1 };
    expect(await places.trustOf(e164(bob), ELSEWHERE, older)).toBe('elsewhere');
  });
});
