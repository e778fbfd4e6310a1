import { createHmac, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { derivedKey, isSameText } from '../../base/secrets';
import { cookieName, cookieOptions, cookieReader } from '../../http/cookies';
import { isTooLate } from '../../http/deadline';
import type { Device } from './login-attempts';

const YEAR_MS = 365 * 86_400_000;

interface Account {
  id: string;
  credentialsVersion: number;
}

/**
 * A right login leaves a cookie on its device, which says that the account has been signed in to there. It lets nobody
 * in: it only has a count of failures of its own, which strangers cannot use up. Nothing is stored of it. Its form is
 * <user id>.<credentials version>.<id>.<issued at>.<signature>.
 */
export class DeviceCookies {
  private readonly name: string;
  private readonly read: (cookies: string | undefined) => string;
  private readonly keys: [Buffer, ...Buffer[]];

  /** The first secret signs; each secret verifies. */
  constructor(
    secrets: string[],
    private readonly production: boolean,
    private readonly now = Date.now,
  ) {
    this.name = cookieName('device', production);
    this.read = cookieReader(this.name);
    const [first, ...others] = secrets.map((secret) => derivedKey(secret, 'device cookies'));
    if (first === undefined) throw new Error('device cookies need a secret');
    this.keys = [first, ...others];
  }

  /** The device that a request says it comes from, if we have signed its cookie in the last year. */
  of({ headers }: Pick<Request, 'headers'>): Device | undefined {
    const value = this.read(headers.cookie);
    const end = value.lastIndexOf('.');
    const signed = value.slice(0, Math.max(0, end));
    if (!this.keys.some((key) => isSameText(value.slice(end + 1), signature(key, signed)))) return undefined;
    const [userId = '', credentialsVersion, id = '', issuedAt] = signed.split('.');
    if (Number(issuedAt) + YEAR_MS <= this.now()) return undefined;
    return { id, userId, credentialsVersion: Number(credentialsVersion) };
  }

  /** The answer to a login makes its device a known one, under a new id, whose count is at zero. */
  set(res: Response, { id: userId, credentialsVersion }: Account): void {
    if (isTooLate(res)) return;
    const signed = [userId, credentialsVersion, randomBytes(16).toString('base64url'), this.now()].join('.');
    const value = `${signed}.${signature(this.keys[0], signed)}`;
    res.cookie(this.name, value, { ...cookieOptions(this.production), maxAge: YEAR_MS });
  }
}

function signature(key: Buffer, signed: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url');
}
