import type { Logger } from 'pino';
import type { Caller } from '../../caller';
import type { Transaction } from '../../database/transaction';
import { endTokens } from '../../integrations/messaging/end-tokens';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { KeptTokens } from '../../integrations/messaging/rongcloud-messaging-provider';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { SessionRow, SessionsRepository } from './sessions-repository';

interface Repositories {
  sessions: SessionsRepository;
  securityEvents: SecurityEventsRepository;
  messagingTokens: Pick<KeptTokens, 'drop'>;
}

interface Parts {
  sessions: SessionsRepository;
  messaging: MessagingProvider;
  transaction: Transaction<Repositories>;
  logger: Pick<Logger, 'warn'>;
}

/** Lists and ends the sessions of a user. */
export class SessionsService {
  constructor(
    private readonly parts: Parts,
    private readonly maxDays: number,
  ) {}

  async of({ userId, sid }: { userId: string; sid: string }): Promise<SessionRow[]> {
    return this.parts.sessions.of(userId, sid, this.maxDays);
  }

  async logOut({ userId, sid }: { userId: string; sid: string }, caller: Caller): Promise<void> {
    await this.endOne(userId, 'logout', caller, (sessions) => sessions.endBySid(sid));
  }

  /** Idempotent: a session that has ended already is no mistake. It ends the messaging tokens of all devices, too. */
  async end(userId: string, id: string, caller: Caller): Promise<void> {
    const { messaging, logger } = this.parts;
    const ended = await this.endOne(userId, 'end_session', caller, (sessions) => sessions.end(userId, id));
    if (ended) await endTokens(messaging, userId, logger);
  }

  private async endOne(
    userId: string,
    operation: string,
    caller: Caller,
    end: (sessions: SessionsRepository) => Promise<number>,
  ): Promise<boolean> {
    return this.parts.transaction(async ({ sessions, securityEvents, messagingTokens }) => {
      if ((await end(sessions)) === 0) return false;
      if (operation === 'end_session') await messagingTokens.drop(userId);
      await securityEvents.add({ event: 'sessions_ended', userId, detail: `one, by ${operation}` }, caller);
      return true;
    });
  }
}
