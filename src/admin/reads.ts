import type { Knex } from 'knex';
import type { Config } from '../config/config';
import { NumberClaimsRepository } from '../features/account/number-claims-repository';
import { MembershipsRepository } from '../features/groups/memberships-repository';
import type { Phone } from '../features/phones/phone-number';
import { Routes } from '../features/sending/routes';
import { TestNumbers } from '../features/sending/test-numbers';
import { WaysRepository } from '../features/sending/ways-repository';
import { SessionsRepository } from '../features/sessions/sessions-repository';
import { SmsTrafficRepository } from '../features/spend-guard/sms-traffic-repository';
import { UsersRepository } from '../features/users/users-repository';

export type Reads = ReturnType<typeof readsOf>;

/** Reads what the service knows. A command that only reads needs no more of it, so that it starts fast. */
export function readsOf({ sms, secrets, sessions: { maxDays } }: Config, db: Knex) {
  const users = new UsersRepository(db);
  const claims = new NumberClaimsRepository(db);
  const memberships = new MembershipsRepository(db);
  const sessions = new SessionsRepository(db);
  const traffic = new SmsTrafficRepository(db);
  const ways = new WaysRepository(db);
  return {
    userIdOf: (phone: string) => users.idByPhone(phone),
    claimsOf: async (userId: string) => {
      const account = await users.account(userId);
      return account ? claims.ofAccount(account) : [];
    },
    /** Returns the sessions that the user sees too; none of them is the operator's own. */
    sessionsOf: (userId: string) => sessions.list(userId, '', maxDays),
    isMember: async (groupId: string, userId: string) => (await memberships.roles(groupId, [userId])).has(userId),
    trafficOf: (phone: Phone) => traffic.ofRegion(phone),
    lastCode: (phone: Phone) => ways.lastCode(phone.number),
    routes: new Routes(sms.routes, (country) => ways.traffic(country)),
    testNumbers: new TestNumbers(secrets.testNumbers, users),
  };
}
