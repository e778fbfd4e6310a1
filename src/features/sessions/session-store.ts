import { callbackify } from 'node:util';
import connectPgSimple from 'connect-pg-simple';
import session, { type SessionData } from 'express-session';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { SessionsRepository } from './sessions-repository';

declare module 'express-session' {
  interface SessionData {
    userId: string;
    /** Of the account, when the session began. */
    credentialsVersion: number;
    /** Milliseconds since 1970, as is renewedAt. */
    createdAt: number;
    renewedAt: number;
    /** Where the login came from, for its owner to recognise. */
    ip: string;
    userAgent: string;
  }
}

/** The store that express-session is given: connect-pg-simple's, which only finds, renews and sweeps sessions. */
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

  /** Only a login makes a session, and it has inserted the row itself. What express-session saves later is a renewal. */
  override set(sid: string, data: SessionData, done: (error?: unknown) => void = () => {}): void {
    if (data.renewedAt === data.createdAt) done();
    else callbackify(() => this.sessions.renew(sid, data))(done);
  }
}
