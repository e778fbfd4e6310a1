import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { Router, type CookieOptions, type Request, type RequestHandler, type Response } from 'express';
import session from 'express-session';
import { Failed, NotSignedIn } from '../../base/errors';
import { callerOf } from '../../http/caller-of';
import { cookieName, cookieOptions, settingFirst } from '../../http/cookies';
import type { OwnSession } from '../../http/operation';
import { handled } from '../../http/route';
import { JoinedReads } from './joined-reads';
import type { FoundSession, SessionReader } from './session-reader';
import type { SessionStore } from './session-store';
import type { NewSession } from './sessions-repository';

const DAY_MS = 86_400_000;

interface Account {
  id: string;
  credentialsVersion: number;
}

/** Inserts the prepared session, or refuses it. */
type Begin = (session: NewSession) => Promise<void>;

export interface SessionRules {
  secrets: string[];
  /** Whether the cookie is Secure, with the prefix that ties it to this host. */
  production: boolean;
  days: number;
  maxDays: number;
}

/** Session cookies. express-session makes and renews them, and the reader finds their sessions. */
export class SessionCookies {
  private readonly cookieName: string;
  private readonly cookie: CookieOptions;
  /** Loads the session of the cookie, or prepares an empty one. */
  readonly load: RequestHandler;
  /** Like `signedIn`, but through express-session, which renews the session. */
  private readonly renew: RequestHandler;

  constructor(
    store: SessionStore,
    private readonly reader: SessionReader,
    private readonly rules: SessionRules,
  ) {
    this.cookieName = sessionCookieName(rules.production);
    this.cookie = cookieOptions(rules.production);
    const sessions = session({
      store,
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

  /** Answers 401 without a user's session. Also renews the session once a day. */
  readonly signedIn: RequestHandler = async (req, res, next) => {
    const session = await this.reader.find(req.headers.cookie);
    if (!session) throw new NotSignedIn();
    req.signedIn = this.ownerOf(session);
    if (isDue(session)) this.renew(req, res, next);
    else next();
  };

  /** Returns whether the request has a user's session. Also renews it, like `signedIn`. */
  async isSignedIn(req: Request, res: Response): Promise<boolean> {
    try {
      await handled(this.signedIn, req, res);
      return true;
    } catch (error) {
      if (error instanceof NotSignedIn) return false;
      throw error;
    }
  }

  /** Like `signedIn`, but finds the session with the request's first read. */
  readonly reading: RequestHandler = (req, res, next) => {
    const sid = this.reader.signedId(req.headers.cookie);
    if (sid === undefined) throw new NotSignedIn();
    req.reads = new JoinedReads(this.reader.reads, sid, async (session) => {
      if (!session) throw new NotSignedIn();
      const owner = this.ownerOf({ ...session, sid });
      if (isDue(session)) await handled(this.renew, req, res);
      req.signedIn = owner;
      return owner.userId;
    });
    next();
  };

  private readonly prolong: RequestHandler = (req, _res, next) => {
    const { session, sessionID: sid } = req;
    // The session may have expired since it was read.
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

  /** Returns the milliseconds until the session reaches its maximum age. */
  private left({ createdAt = 0 }: Partial<FoundSession>): number {
    return createdAt + this.rules.maxDays * DAY_MS - Date.now();
  }

  /** Prepares a session with a new id. The answer sets the cookie unless `begin` refuses. */
  async start(req: Request, account: Account, begin: Begin, by?: { byToken: true }): Promise<void> {
    if (this.rules.production && !req.secure)
      throw new Failed('https_required', 'sessions need HTTPS, and this request did not arrive over it', {
        cause: new Error('login did not arrive over HTTPS: check that TRUST_PROXY names the proxy in front'),
      });
    const replacedSid = req.session.userId === undefined ? undefined : req.sessionID;
    if (replacedSid !== undefined) await regenerate(req);
    const now = Date.now();
    const life = Math.min(this.rules.days, this.rules.maxDays) * DAY_MS;
    req.session.cookie.maxAge = life;
    const { ip, userAgent } = callerOf(req);
    const { id: userId, credentialsVersion } = account;
    const owner = { userId, credentialsVersion, createdAt: now, renewedAt: now, ip, userAgent, ...by };
    const data = { cookie: req.session.cookie, ...owner };
    await begin({ sid: req.sessionID, userId, data, expires: new Date(now + life), replacedSid });
    Object.assign(req.session, owner);
  }

  /** Deletes the cookie of a session that has ended. */
  forget(req: Partial<Request>, res: Response): void {
    // An unset session is not saved at the end of the request.
    delete req.session;
    if (!req.isBearer) res.clearCookie(this.cookieName, this.cookie);
  }
}

export function sessionCookieName(production: boolean): string {
  return cookieName('sid', production);
}

/** Returns 192 random bits. */
function newSessionId(): string {
  return randomBytes(24).toString('base64url');
}

function isDue({ renewedAt = 0 }: Partial<FoundSession>): boolean {
  return Date.now() - renewedAt > DAY_MS;
}

function regenerate(req: Request): Promise<void> {
  return promisify((done: (error: unknown) => void) => req.session.regenerate(done))();
}
