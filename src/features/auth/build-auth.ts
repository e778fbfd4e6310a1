import type { Foundation } from '../../foundation/foundation';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { AuditTrail } from '../audit/audit-trail';
import type { KnownPlaces } from '../audit/known-places';
import { NEW_DEVICE } from '../events/events-repository';
import type { Limiter } from '../limits/limiter';
import type { Notices } from '../notices/notices';
import type { VerificationCodes } from '../verification/verification-code';
import type { VerificationTokensRepository } from '../verification/verification-tokens-repository';
import { AuthService } from './auth-service';
import type { CredentialsRepositories } from './credentials';
import { HashingPool } from './hashing-pool';
import { LoginAttempts } from './login-attempts';
import { OwnPassword } from './own-password';
import { Passwords } from './passwords';
import { TokenLogins, type TokenLoginRules } from './token-logins';

type Needs = Foundation<CredentialsRepositories & { verificationTokens: VerificationTokensRepository }> & {
  limiter: Limiter;
  audit: AuditTrail;
  knownPlaces: KnownPlaces;
  notices: Notices;
  codes: VerificationCodes;
  messaging: MessagingProvider;
};

export function buildAuth(needs: Needs, { bcryptCost, ...rules }: TokenLoginRules & { bcryptCost: number }) {
  const { repos, limiter, knownPlaces, ...others } = needs;
  const hashing = new HashingPool(others.queues.hashing);
  const passwords = new Passwords(bcryptCost, hashing);
  const attempts = new LoginAttempts(limiter, others.queues, knownPlaces);
  const known = { ...others, ...repos, passwords, attempts };
  const ownPassword = new OwnPassword(known);
  return {
    ownPassword,
    auth: new AuthService({ ...known, ownPassword }),
    tokenLogins: new TokenLogins(known, rules),
    part: { resources: [hashing], events: ['password.changed', NEW_DEVICE] },
  };
}
