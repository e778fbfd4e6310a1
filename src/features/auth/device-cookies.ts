import { createHmac, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { derivedKey, isSameText } from '../../base/secrets';
import { DEVICE_TOKEN } from '../../http/bearer';
import { cookieName, cookieOptions, cookieReader } from '../../http/cookies';
import { isTooLate } from '../../http/deadline';
import type { Device } from './login-attempts';

const YEAR_MS = 365 * 86_400_000;

interface Account {
  id: string;
  credentialsVersion: number;
}

/**
 * Cookies that mark devices on which an account was signed in. They do not grant access: they only give the device its
 * own failure count, which strangers cannot exhaust. Nothing about them is stored. A cookie has the form
 * <user id>.<credentials version>.<id>.<issued at>.<signature>.
 */
export class DeviceCookies {
  private readonly name: string;
  private readonly read: (cookies: string | undefined) => string;
  private readonly keys: [Buffer, ...Buffer[]];

  /** Signs with the first secret, and verifies with each. */
  constructor(
    secrets: string[],
    private readonly production: boolean,
    private readonly now = Date.now,
  ) {
    this.name = deviceCookieName(production);
    this.read = cookieReader(this.name);
    const [first, ...others] = secrets.map((secret) => derivedKey(secret, 'device cookies'));
    if (first === undefined) throw new Error('device cookies need a secret');
    this.keys = [first, ...others];
  }

  /** Returns the device that a request names, if its cookie was signed in the last year. */
  find({ headers }: Pick<Request, 'headers'>): Device | undefined {
    const value = this.read(headers.cookie);
    const end = value.lastIndexOf('.');
    const signed = value.slice(0, Math.max(0, end));
    if (!this.keys.some((key) => isSameText(value.slice(end + 1), signature(key, signed)))) return undefined;
    const [userId = '', credentialsVersion, id = '', issuedAt] = signed.split('.');
    if (Number(issuedAt) + YEAR_MS <= this.now()) return undefined;
    return { id, userId, credentialsVersion: Number(credentialsVersion) };
  }

  /** Makes the device of a login a known one, under a new id, whose failure count is zero. */
  set(res: Response, { id: userId, credentialsVersion }: Account): void {
    if (isTooLate(res)) return;
    const signed = [userId, credentialsVersion, randomBytes(16).toString('base64url'), this.now()].join('.');
    const value = `${signed}.${signature(this.keys[0], signed)}`;
    if (res.req.isBearer) res.setHeader(DEVICE_TOKEN, value);
    else res.cookie(this.name, value, { ...cookieOptions(this.production), maxAge: YEAR_MS });
  }
}

export function deviceCookieName(production: boolean): string {
  return cookieName('device', production);
}

function signature(key: Buffer, signed: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url');
}
