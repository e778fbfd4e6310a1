import connectPgSimple from 'connect-pg-simple';
import type { CookieOptions, Request, RequestHandler, Response } from 'express';
import session, { type SessionData } from 'express-session';
import type { Pool } from 'pg';
import { Failed, NotSignedIn } from '../errors';
import { callerOf } from './caller';

declare module 'express-session' {
  interface SessionData {
    userId: string;
    /** Milliseconds since 1970, as is renewedAt. */
    createdAt: number;
    renewedAt: number;
    /** Where the login came from, for its owner to recognise. */
    ip: string;
    userAgent: string;
  }
}

const DAY = 86_400_000;

export interface SessionRules {
  secrets: string[];
  /** Secure, and with the prefix that ties the cookie to this very host. */
  production: boolean;
  days: number;
  maxDays: number;
}

/** A row of the session table, ready to be put there in the moment that its owner is known to be the right one. */
export interface NewSession {
  sid: string;
  userId: string;
  data: SessionData;
  expires: Date;
}

/**
 * Only a login makes a session, and it writes the row itself (SessionsRepository.start). Whatever express-session saves
 * later is an update: a session that was ended while a request was under way stays ended.
 */
class UpdatingStore extends connectPgSimple(session) {
  constructor(
    private readonly pool: Pool,
    logError: (message: string, error: unknown) => void,
  ) {
    super({ pool, disableTouch: true, errorLog: logError });
  }

  override set(sid: string, data: SessionData, done?: (error?: unknown) => void): void {
    const expires = data.cookie.expires ?? new Date(Date.now() + DAY);
    this.pool.query('UPDATE session SET sess = $1, expire = $2 WHERE sid = $3', [data, expires, sid]).then(
      () => done?.(),
      (error: unknown) => done?.(error),
    );
  }
}

/** Cookie sessions by express-session, kept in PostgreSQL by connect-pg-simple. */
export class Sessions {
  private readonly store: UpdatingStore;
  private readonly cookieName: string;
  private readonly cookie: CookieOptions;
  /** Loads the session that the cookie names, or makes an empty one. */
  readonly load: RequestHandler;

  constructor(
    pool: Pool,
    private readonly rules: SessionRules,
    logError: (message: string, error: unknown) => void,
  ) {
    this.store = new UpdatingStore(pool, logError);
    this.cookieName = rules.production ? '__Host-sid' : 'sid';
    this.cookie = { httpOnly: true, sameSite: 'lax', secure: rules.production, path: '/' };
    this.load = session({
      store: this.store,
      name: this.cookieName,
      secret: rules.secrets,
      cookie: { ...this.cookie, maxAge: rules.days * DAY },
      resave: false,
      saveUninitialized: false,
    });
  }

  /** 401 without a user's session; a session in use is renewed once a day, up to its greatest age. */
  readonly require: RequestHandler = (req, _res, next) => {
    const { userId, createdAt, renewedAt } = req.session;
    const now = Date.now();
    const left = (createdAt ?? 0) + this.rules.maxDays * DAY - now;
    if (userId === undefined || left <= 0) throw new NotSignedIn();
    if (now - (renewedAt ?? 0) > DAY) {
      req.session.renewedAt = now;
      req.session.cookie.maxAge = Math.min(left, this.rules.days * DAY);
    }
    next();
  };

  /** Prepares a session under an id that nobody has seen yet. The answer sets the cookie unless `begin` refuses. */
  async start(req: Request, userId: string, begin: (session: NewSession) => Promise<void>): Promise<void> {
    if (this.rules.production && !req.secure)
      throw new Failed('sessions need HTTPS, and this request did not arrive over it', {
        cause: new Error('login did not arrive over HTTPS: check that TRUST_PROXY names the proxy in front'),
      });
    if (req.session.userId !== undefined) await regenerate(req);
    const now = Date.now();
    const life = Math.min(this.rules.days, this.rules.maxDays) * DAY;
    req.session.cookie.maxAge = life;
    const { ip, userAgent } = callerOf(req);
    const owner = { userId, createdAt: now, renewedAt: now, ip, userAgent };
    const data = { cookie: req.session.cookie, ...owner };
    await begin({ sid: req.sessionID, userId, data, expires: new Date(now + life) });
    Object.assign(req.session, owner);
  }

  async end(req: Request, res: Response): Promise<void> {
    await new Promise<void>((resolve, reject) =>
      req.session.destroy((error: unknown) => (error ? reject(asError(error)) : resolve())),
    );
    res.clearCookie(this.cookieName, this.cookie);
  }

  /** Stops sweeping expired sessions. */
  close(): void {
    this.store.close();
  }
}

export function userIdOf(req: Request): string {
  const { userId } = req.session;
  if (userId === undefined) throw new NotSignedIn();
  return userId;
}

function regenerate(req: Request): Promise<void> {
  return new Promise((resolve, reject) =>
    req.session.regenerate((error: unknown) => (error ? reject(asError(error)) : resolve())),
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the session store failed', { cause: error });
}
