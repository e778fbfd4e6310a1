import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Read, Reads } from '../database/reads';

/** Of what express-session keeps, what a request is let in by. */
export interface FoundSession {
  sid: string;
  userId?: string;
  createdAt?: number;
  renewedAt?: number;
}

/**
 * Reads sessions as express-session and connect-pg-simple would, the cookie's signature and the row that it names, without
 * what is needed to change one. Every request asks the database, so an ended session has ended.
 */
export class SessionReader {
  private readonly pattern: RegExp;
  private readonly keys: ReturnType<typeof createSecretKey>[];
  private readonly rows: Read<{ sess: Omit<FoundSession, 'sid'> }, 'sid'>;

  constructor(reads: Reads, db: Knex, cookieName: string, secrets: string[]) {
    this.pattern = new RegExp(`(?:^|;)[ \\t]*${cookieName}[ \\t]*=([^;]*)`);
    this.keys = secrets.map((secret) => createSecretKey(secret, 'utf8'));
    this.rows = reads.prepare(
      'session',
      db('session').where({ sid: ':sid' }).where('expire', '>', db.fn.now()).select('sess'),
    );
  }

  async find(cookies: string | undefined): Promise<FoundSession | undefined> {
    const sid = this.signedId(cookies);
    if (sid === undefined) return undefined;
    const [row] = await this.rows({ sid });
    return row && { ...row.sess, sid };
  }

  /** The cookie is s:<id>.<signature>, encoded as a URI component. */
  private signedId(cookies = ''): string | undefined {
    const value = decoded(unquoted(this.pattern.exec(cookies)?.[1]?.trim() ?? ''));
    const dot = value.lastIndexOf('.');
    if (!value.startsWith('s:') || dot < 0) return undefined;
    const sid = value.slice(2, dot);
    const signature = Buffer.from(value.slice(dot + 1));
    return this.keys.some((key) => isSignature(signature, createHmac('sha256', key).update(sid))) ? sid : undefined;
  }
}

function isSignature(signature: Buffer, hmac: ReturnType<typeof createHmac>): boolean {
  const expected = Buffer.from(hmac.digest('base64').replace(/=+$/, ''));
  return expected.length === signature.length && timingSafeEqual(expected, signature);
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function decoded(text: string): string {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    return '';
  }
}
