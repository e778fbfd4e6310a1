import type { Foundation } from '../../foundation/foundation';
import type { ImageStorage } from '../../integrations/storage/image-storage';
import type { AuditTrail } from '../audit/audit-trail';
import type { OwnPassword } from '../auth/own-password';
import { CLAIM_KINDS } from '../events/events-repository';
import type { DismissalsRepository } from '../groups/dismissals-repository';
import type { Notices } from '../notices/notices';
import type { SessionsService } from '../sessions/sessions-service';
import type { VerificationTokensRepository } from '../verification/verification-tokens-repository';
import { AccountService, type ClosingRepositories } from './account-service';
import type { ClosingsRepository } from './closings-repository';
import { ClosingsService } from './closings-service';
import { ExportRepository } from './export-repository';
import { ExportService } from './export-service';
import { NumberClaimsService, type ClaimRules } from './number-claims-service';
import { SuspensionService, type SuspensionRepositories } from './suspension-service';

/** After a crash or a slow statement, friends still have a closed account in their lists until then. */
const CLOSING_SWEEP_MS = 60_000;

type Repositories = ClosingRepositories &
  SuspensionRepositories & {
    closings: ClosingsRepository;
    dismissals: DismissalsRepository;
    verificationTokens: VerificationTokensRepository;
  };

type Needs = Foundation<Repositories> & {
  audit: AuditTrail;
  notices: Notices;
  ownPassword: OwnPassword;
  sessions: SessionsService;
  storage: ImageStorage;
};

export function buildAccount(needs: Needs, rules: ClaimRules) {
  const { repos, connections, background, audit, sessions, ...others } = needs;
  const { numberClaims: claims } = repos;
  const closings = new ClosingsService({ ...others, closings: repos.closings, background: background.ends });
  const account = new AccountService({ ...others, ...repos, closings });
  return {
    account,
    numberClaims: new NumberClaimsService({ ...others, claims, account }, rules),
    exporting: new ExportService(new ExportRepository(connections.reading), claims, sessions, audit, others.queues),
    suspension: new SuspensionService(others.transaction),
    part: {
      sweeps: [
        { name: 'closings', everyMs: CLOSING_SWEEP_MS, run: () => closings.sweep() },
        { name: 'claims', run: () => claims.sweep() },
      ],
      events: ['user.closed', 'user.suspended', 'user.restored', 'phone.changed', ...CLAIM_KINDS],
    },
  };
}
