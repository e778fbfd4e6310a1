import type { Knex } from 'knex';
import { retrying } from './database/retrying';
import { SecurityEventsRepository } from './features/audit/security-events-repository';
import { BlacklistRepository } from './features/blacklist/blacklist-repository';
import { GroupsRepository } from './features/groups/groups-repository';
import { LimitsRepository } from './features/limits/limits-repository';
import { SessionsRepository } from './features/sessions/sessions-repository';
import { SmsTrafficRepository } from './features/spend-guard/sms-traffic-repository';
import { MessagingTokensRepository } from './features/tokens/messaging-tokens-repository';
import { UsersRepository } from './features/users/users-repository';
import { CaptchasRepository } from './features/verification/captchas-repository';
import { VerificationRepository } from './features/verification/verification-repository';

export type Repositories = ReturnType<typeof repositories>;

/** Every repository on one connection source: the pool, or one transaction. */
export function repositories(db: Knex) {
  return {
    blacklist: new BlacklistRepository(db),
    captchas: new CaptchasRepository(db),
    groups: new GroupsRepository(db),
    limits: new LimitsRepository(db),
    messagingTokens: new MessagingTokensRepository(db),
    securityEvents: new SecurityEventsRepository(db),
    sessions: new SessionsRepository(db),
    smsTraffic: new SmsTrafficRepository(db),
    users: new UsersRepository(db),
    verification: new VerificationRepository(db),
  };
}

export type Transaction = <T>(work: (repos: Repositories) => Promise<T>) => Promise<T>;

/** Hands out repositories bound to one transaction, and repeats it when PostgreSQL asks for that. */
export function transactions(db: Knex): Transaction {
  return (work) => retrying(() => db.transaction((trx) => work(repositories(trx))));
}
