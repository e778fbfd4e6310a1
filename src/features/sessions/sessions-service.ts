import type { Caller } from '../../base/caller';
import type { Transaction } from '../../database/transaction';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { Limiter } from '../limits/limiter';
import type { SessionRow, SessionsRepository } from './sessions-repository';

export interface SessionsRepositories {
  sessions: SessionsRepository;
  securityEvents: SecurityEventsRepository;
  messagingTokens: {
    lock(userId: string): Promise<void>;
    beginRound(userId: string): Promise<void>;
    end(userId: string): Promise<void>;
  };
}

interface Deps {
  sessions: SessionsRepository;
  limiter: Limiter;
  transaction: Transaction<SessionsRepositories>;
}

/** Lists and ends the sessions of a user. */
export class SessionsService {
  constructor(
    private readonly deps: Deps,
    private readonly maxDays: number,
  ) {}

  async list({ userId, sid }: { userId: string; sid: string }): Promise<SessionRow[]> {
    return this.deps.sessions.list(userId, sid, this.maxDays);
  }

  async logOut({ userId, sid }: { userId: string; sid: string }, caller: Caller): Promise<void> {
    await this.deps.transaction(async (repos) => {
      if ((await repos.sessions.endBySid(sid)) > 0) await noteEnded(repos, userId, 'logout', caller);
    });
  }

  /**
   * Ends a session, and the messaging tokens of all devices. Idempotent: an ended session is not an error. Only calls
   * that end nothing are counted. Logins limit the others, and a thief must not keep the owner from ending a session.
   */
  async end(userId: string, id: string, caller: Caller): Promise<void> {
    const { sessions, transaction, limiter } = this.deps;
    if (!(await sessions.has(userId, id))) {
      await limiter.take(caller, { limit: 'changesPerHour', subject: userId });
      return;
    }
    await transaction(async (repos) => {
      // Locks the user's row before rows of sessions, as a new password does.
      await repos.messagingTokens.lock(userId);
      // If the session is already gone, nothing else ends: pending tokens, such as a login's, stay valid.
      if ((await repos.sessions.end(userId, id)) === 0) return;
      await repos.messagingTokens.beginRound(userId);
      await noteEnded(repos, userId, 'end_session', caller);
      await repos.messagingTokens.end(userId);
    });
  }
}

async function noteEnded(
  { securityEvents }: Pick<SessionsRepositories, 'securityEvents'>,
  userId: string,
  operation: string,
  caller: Caller,
): Promise<void> {
  await securityEvents.add({ event: 'sessions_ended', userId, detail: `one, by ${operation}` }, caller);
}
