import type { Foundation } from '../../foundation/foundation';
import type { Limiter } from '../limits/limiter';
import type { SessionsRepository } from './sessions-repository';
import { SessionsService, type SessionsRepositories } from './sessions-service';

type Needs = Foundation<SessionsRepositories & { sessions: SessionsRepository }> & { limiter: Limiter };

export function buildSessions({ repos, transaction, limiter }: Needs, maxDays: number) {
  const sessions = new SessionsService({ sessions: repos.sessions, limiter, transaction }, maxDays);
  return { sessions, part: { events: ['sessions.ended'] } };
}
