import { callbackify } from 'node:util';
import connectPgSimple from 'connect-pg-simple';
import session, { type SessionData } from 'express-session';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { SessionsRepository } from './sessions-repository';

declare module 'express-session' {
  interface SessionData {
    userId: string;
    /** Version of the account's credentials when the session began. */
    credentialsVersion: number;
    /** Milliseconds since 1970, as is renewedAt. */
    createdAt: number;
    renewedAt: number;
    /** Origin of the login, which its owner may recognise. */
    ip: string;
    userAgent: string;
    /** Set when it began by a verification token, which somebody else may have by now who has got the number. */
    byToken?: boolean;
  }
}

/** The store for express-session: connect-pg-simple's, which only finds, renews and sweeps sessions. */
export class SessionStore extends connectPgSimple(session) {
  constructor(
    pool: Pool,
    private readonly sessions: SessionsRepository,
    logger: Pick<Logger, 'warn'>,
  ) {
    const errorLog = (message: string, error: unknown) => logger.warn({ err: error }, message);
    super({ pool, disableTouch: true, errorLog });
  }

  override get(sid: string, done: (error: unknown, session?: SessionData | null) => void): void {
    callbackify(() => this.sessions.live(sid))(done);
  }

  /** Renews a session. Only a login makes one, and it inserts the row itself, so later saves are renewals. */
  override set(sid: string, data: SessionData, done: (error?: unknown) => void = () => {}): void {
    if (data.renewedAt === data.createdAt) done();
    else callbackify(() => this.sessions.renew(sid, data))(done);
  }
}
