import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { SessionData } from 'express-session';
import { isSameText } from '../../base/secrets';
import type { Runner } from '../../database/statement';
import { liveSession } from './live-session';

export interface FoundSession extends Partial<SessionData> {
  sid: string;
}

/**
 * Relies on express-session's cookie, `s:<id>.<HMAC-SHA256 in base64>`, and on connect-pg-simple's table: it checks the
 * signature and reads the row as they do, at half the cost. Every request asks the database, so an ended session is
 * refused at once. test/unit/session-reader.test.ts compares both.
 */
export class SessionReader {
  private readonly keys: KeyObject[];

  /** `cookieIn` finds the session's cookie in the Cookie header. */
  constructor(
    readonly reads: Runner,
    private readonly cookieIn: (cookies: string | undefined) => string,
    secrets: string[],
  ) {
    this.keys = secrets.map((secret) => createSecretKey(secret, 'utf8'));
  }

  async find(cookies: string | undefined): Promise<FoundSession | undefined> {
    const sid = this.signedId(cookies);
    if (sid === undefined) return undefined;
    const session = await liveSession(this.reads, sid);
    return session && { ...session, sid };
  }

  /** Returns the id of a signed cookie, which is s:<id>.<signature>, encoded as a URI component. */
  signedId(cookies: string | undefined): string | undefined {
    const value = this.cookieIn(cookies);
    const dot = value.lastIndexOf('.');
    if (!value.startsWith('s:') || dot < 0) return undefined;
    const sid = value.slice(2, dot);
    const signature = value.slice(dot + 1);
    return this.keys.some((key) => isSameText(signature, signatureOf(sid, key))) ? sid : undefined;
  }
}

function signatureOf(sid: string, key: KeyObject): string {
  return createHmac('sha256', key).update(sid).digest('base64').replace(/=+$/, '');
}
