import { randomBytes } from 'node:crypto';
import connectPgSimple from 'connect-pg-simple';
import { Router, type CookieOptions, type Request, type RequestHandler, type Response } from 'express';
import session, { type Session, type SessionData } from 'express-session';
import type { Knex } from 'knex';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { asError, Failed, NotSignedIn, Unavailable } from '../../base/errors';
import { callerOf } from '../../http/caller-of';
import { cookieName, cookieOptions, settingFirst } from '../../http/cookies';
import { isTooLate } from '../../http/deadline';
import type { OwnSession } from '../../http/operation';
import { handled } from '../../http/route';
import { JoinedReads } from './joined-reads';
import { liveSession, type SessionOwner } from './live-session';
import type { FoundSession, SessionReader } from './session-reader';
import type { NewSession } from './sessions-repository';

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

const DAY_MS = 86_400_000;

const UPDATE = `
  UPDATE session SET expire = $2,
         sess = ($1::jsonb || jsonb_build_object('credentialsVersion', (sess ->> 'credentialsVersion')::integer))::json
   WHERE sid = $3`;

interface Account {
  id: string;
  credentialsVersion: number;
}

export interface SessionRules {
  secrets: string[];
  /** In production the cookie is Secure, with the prefix that ties it to this host. */
  production: boolean;
  days: number;
  maxDays: number;
}

/**
 * Only a login makes a session, and it inserts the row itself (SessionsRepository.start). express-session's later saves
 * are updates, so that a session which was ended during a request stays ended. They leave the credentials version as it
 * is: a change of the password may have raised it during the request.
 */
class UpdatingStore extends connectPgSimple(session) {
  private readonly written = new WeakSet<object>();

  constructor(
    private readonly pool: Pool,
    private readonly db: Knex,
    logger: Pick<Logger, 'warn'>,
  ) {
    const errorLog = (message: string, error: unknown) => logger.warn({ err: error }, message);
    super({ pool, disableTouch: true, errorLog });
  }

  override get(sid: string, done: (error: unknown, session?: SessionData | null) => void): void {
    const found = liveSession(this.db, { sid });
    found.then(
      ([row]) => done(null, row ? (row.sess as SessionData) : null),
      (error: unknown) => done(error),
    );
  }

  /** Its row is written already; express-session would write it again at the end of the request. */
  isWritten(data: Session): void {
    this.written.add(data);
  }

  override set(sid: string, data: SessionData, done?: (error?: unknown) => void): void {
    if (this.written.delete(data)) {
      done?.();
      return;
    }
    const expires = data.cookie.expires ?? new Date(Date.now() + DAY_MS);
    this.pool.query(UPDATE, [data, expires, sid]).then(
      () => done?.(),
      (error: unknown) => done?.(error),
    );
  }
}

/** Cookie sessions by express-session, kept in PostgreSQL by connect-pg-simple. */
export class SessionCookies {
  private readonly store: UpdatingStore;
  private readonly cookieName: string;
  private readonly cookie: CookieOptions;
  /** Loads the session of the cookie, or prepares an empty one. */
  readonly load: RequestHandler;
  /** Does the same as `signedIn` by express-session, which can also renew the session. */
  private readonly renew: RequestHandler;

  constructor(
    pool: Pool,
    db: Knex,
    private readonly reader: SessionReader,
    /** Have express-session read every session, not only those to be renewed. */
    private readonly byStore: boolean,
    private readonly rules: SessionRules,
    logger: Pick<Logger, 'warn'>,
  ) {
    this.store = new UpdatingStore(pool, db, logger);
    this.cookieName = sessionCookieName(rules.production);
    this.cookie = cookieOptions(rules.production);
    const sessions = session({
      store: this.store,
      name: this.cookieName,
      secret: rules.secrets,
      cookie: { ...this.cookie, maxAge: rules.days * DAY_MS },
      genid: newSessionId,
      resave: false,
      saveUninitialized: false,
    });
    this.load = Router().use(settingFirst(this.cookieName), sessions);
    this.renew = Router().use(this.load, this.prolong);
  }

  /** 401 without a user's session. Once a day it also renews the session. */
  readonly signedIn: RequestHandler = async (req, res, next) => {
    if (this.byStore) {
      this.renew(req, res, next);
      return;
    }
    const session = await this.reader.find(req.headers.cookie);
    if (!session) throw new NotSignedIn();
    req.signedIn = this.ownerOf(session);
    if (isDue(session)) this.renew(req, res, next);
    else next();
  };

  /** The same, but the session is found with what the request reads first. */
  readonly reading: RequestHandler = async (req, res, next) => {
    const sid = this.reader.signedId(req.headers.cookie);
    if (sid === undefined) throw new NotSignedIn();
    if (this.byStore) await handled(this.renew, req, res);
    const check = async (session: SessionOwner | undefined) => {
      if (!session) throw new NotSignedIn();
      const owner = this.ownerOf({ ...session, sid });
      if (isDue(session)) await handled(this.renew, req, res);
      req.signedIn = owner;
      return owner.userId;
    };
    req.reads = new JoinedReads(this.reader.reads, sid, check);
    next();
  };

  private readonly prolong: RequestHandler = (req, _res, next) => {
    const { session, sessionID: sid } = req;
    // It may have ended since it was read.
    req.signedIn = this.ownerOf({ ...session, sid });
    if (isDue(session)) {
      session.renewedAt = Date.now();
      session.cookie.maxAge = Math.min(this.left(session), this.rules.days * DAY_MS);
    }
    next();
  };

  private ownerOf(session: FoundSession): OwnSession {
    const { userId, sid, credentialsVersion } = session;
    const isWhole = userId !== undefined && credentialsVersion !== undefined;
    if (!isWhole || this.left(session) <= 0) throw new NotSignedIn();
    return { userId, sid, credentialsVersion };
  }

  /** Milliseconds until the session has its greatest age. */
  private left({ createdAt = 0 }: Partial<FoundSession>): number {
    return createdAt + this.rules.maxDays * DAY_MS - Date.now();
  }

  /** Prepares a session with a new id. The answer sets the cookie unless `begin` refuses. */
  async start(req: Request, account: Account, begin: (session: NewSession) => Promise<void>): Promise<void> {
    if (this.rules.production && !req.secure)
      throw new Failed('https_required', 'sessions need HTTPS, and this request did not arrive over it', {
        cause: new Error('login did not arrive over HTTPS: check that TRUST_PROXY names the proxy in front'),
      });
    if (req.session.userId !== undefined) await regenerate(req);
    const now = Date.now();
    const life = Math.min(this.rules.days, this.rules.maxDays) * DAY_MS;
    req.session.cookie.maxAge = life;
    const { ip, userAgent } = callerOf(req);
    const { id: userId, credentialsVersion } = account;
    const owner = { userId, credentialsVersion, createdAt: now, renewedAt: now, ip, userAgent };
    if (req.res && isTooLate(req.res)) throw new Unavailable('took_too_long', 'the login took too long');
    const data = { cookie: req.session.cookie, ...owner };
    await begin({ sid: req.sessionID, userId, data, expires: new Date(now + life) });
    Object.assign(req.session, owner);
    this.store.isWritten(req.session);
  }

  /** Deletes the cookie of a session that has ended. */
  async forget(req: Request, res: Response): Promise<void> {
    const renewed: Session | undefined = req.session;
    if (renewed)
      await new Promise<void>((resolve, reject) =>
        renewed.destroy((error: unknown) => (error ? reject(asError(error, 'the session store failed')) : resolve())),
      );
    res.clearCookie(this.cookieName, this.cookie);
  }

  /** Stops sweeping expired sessions. */
  close(): void {
    this.store.close();
  }
}

export function sessionCookieName(production: boolean): string {
  return cookieName('sid', production);
}

/** 192 random bits. */
function newSessionId(): string {
  return randomBytes(24).toString('base64url');
}

function isDue({ renewedAt = 0 }: Partial<FoundSession>): boolean {
  return Date.now() - renewedAt > DAY_MS;
}

function regenerate(req: Request): Promise<void> {
  return new Promise((resolve, reject) =>
    req.session.regenerate((error: unknown) =>
      error ? reject(asError(error, 'the session store failed')) : resolve(),
    ),
  );
}
