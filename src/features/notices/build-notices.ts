import type { Foundation } from '../../foundation/foundation';
import type { AuditTrail } from '../audit/audit-trail';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { Limiter } from '../limits/limiter';
import type { Routes } from '../sending/routes';
import type { Sending } from '../sending/sending';
import type { Words } from '../sending/words';
import type { UsersRepository } from '../users/users-repository';
import { Notices, type NoticeRules } from './notices';

type Needs = Foundation<{ securityEvents: SecurityEventsRepository; users: UsersRepository }> & {
  words: Words;
  routes: Routes;
  sending: Sending;
  limiter: Limiter;
  audit: AuditTrail;
};

export function buildNotices({ repos, background, ...others }: Needs, rules: NoticeRules) {
  const notices = new Notices({ ...others, ...repos, background: background.notices }, rules);
  others.limiter.onMet((use, caller) => notices.limitMet(use, caller));
  return { notices };
}
