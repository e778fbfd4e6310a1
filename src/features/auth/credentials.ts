import { BadRequest, Forbidden } from '../../base/errors';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { EventsRepository } from '../events/events-repository';
import type { SessionsRepository } from '../sessions/sessions-repository';
import type { UsersRepository } from '../users/users-repository';
import type { VerificationTokensRepository } from '../verification/verification-tokens-repository';

/** Repositories that a change of an account's credentials writes to, in one transaction. */
export interface CredentialsRepositories {
  users: UsersRepository;
  sessions: SessionsRepository;
  verificationTokens: VerificationTokensRepository;
  securityEvents: SecurityEventsRepository;
  events: Pick<EventsRepository, 'tell'>;
  messagingTokens: { end(userId: string): Promise<void> };
  numberClaims: { keep(userId: string): Promise<boolean> };
}

export class PhoneTaken extends BadRequest {
  constructor(
    tokenIs: 'still good for reset_password' | 'still good for login_by_token and reset_password' | 'still good',
  ) {
    super('phone_taken', `verification_token: its phone has an account already; the token is ${tokenIs}`);
  }
}

export class NoAccount extends BadRequest {
  constructor() {
    super('no_account', 'verification_token: its phone does not have an account');
  }
}

export class WrongPassword extends BadRequest {
  constructor(field: 'password' | 'oldPassword') {
    super('wrong_password', `${field}: wrong`);
  }
}

export function suspended(): Forbidden {
  return new Forbidden('account_suspended', 'the account is suspended by the operator');
}
