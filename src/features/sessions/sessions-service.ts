import type { Caller } from '../../caller';
import type { Transaction } from '../../database/transaction';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { SessionRow, SessionsRepository } from './sessions-repository';

/** Lists and ends the sessions of a user. */
export class SessionsService {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly transaction: Transaction<{
      sessions: SessionsRepository;
      securityEvents: SecurityEventsRepository;
    }>,
    private readonly maxDays: number,
  ) {}

  async of({ userId, sid }: { userId: string; sid: string }): Promise<SessionRow[]> {
    return this.sessions.of(userId, sid, this.maxDays);
  }

  async logOut({ userId, sid }: { userId: string; sid: string }, caller: Caller): Promise<void> {
    await this.endOne(userId, 'logout', caller, (sessions) => sessions.endBySid(sid));
  }

  /** Idempotent: a session that has ended already is no mistake. */
  async end(userId: string, id: string, caller: Caller): Promise<void> {
    await this.endOne(userId, 'end_session', caller, (sessions) => sessions.end(userId, id));
  }

  private async endOne(
    userId: string,
    operation: string,
    caller: Caller,
    end: (sessions: SessionsRepository) => Promise<number>,
  ): Promise<void> {
    await this.transaction(async ({ sessions, securityEvents }) => {
      if ((await end(sessions)) === 0) return;
      await securityEvents.add({ event: 'sessions_ended', userId, detail: `one, by ${operation}` }, caller);
    });
  }
}
