import type { Caller } from '../../base/caller';
import type { Transaction } from '../../database/transaction';
import type { SecurityEventsRepository } from '../audit/security-events-repository';
import type { SessionsRepository } from '../sessions/sessions-repository';
import type { UsersRepository } from '../users/users-repository';

export interface SuspensionRepositories {
  numberClaims: { end(userId: string): Promise<number> };
  users: UsersRepository;
  sessions: SessionsRepository;
  securityEvents: SecurityEventsRepository;
  messagingTokens: {
    beginRound(userId: string): Promise<void>;
    end(userId: string): Promise<void>;
  };
}

/**
 * Suspends accounts and restores them, for operators. A suspended account has no sessions and no logins. It keeps its
 * data, codes and known devices, and others see no difference.
 */
export class SuspensionService {
  constructor(private readonly transaction: Transaction<SuspensionRepositories>) {}

  /** Returns false, and changes nothing, when the account is suspended already or is closed. */
  async suspend(userId: string, reason: string | undefined, caller: Caller): Promise<boolean> {
    return this.transaction(async (repos) => {
      // The user first: a pending login either sees it, or has inserted its session, which endAll then sees.
      if (!(await repos.users.suspend(userId))) return false;
      await repos.securityEvents.add({ event: 'account_suspended', userId, ...(reason && { detail: reason }) }, caller);
      const ended = await repos.sessions.endAll(userId);
      await repos.securityEvents.addSessionsEnded(userId, ended, 'the suspension', caller);
      await repos.messagingTokens.beginRound(userId);
      await repos.messagingTokens.end(userId);
      // Its owner cannot answer it.
      await repos.numberClaims.end(userId);
      return true;
    });
  }

  /** Lets the owner log in again. Returns false, and changes nothing, when the account is not suspended or is closed. */
  async restore(userId: string, caller: Caller): Promise<boolean> {
    return this.transaction(async (repos) => {
      if (!(await repos.users.restore(userId))) return false;
      await repos.securityEvents.add({ event: 'account_restored', userId }, caller);
      // Another service that suspended the account may have left its sessions and tokens. They must not become valid again.
      await repos.sessions.endAll(userId);
      await repos.messagingTokens.end(userId);
      return true;
    });
  }
}
