import type { Request, Response } from 'express';
import { DeviceCookies } from '../../src/features/auth/device-cookies';

const YEAR_MS = 365 * 86_400_000;
const SECRETS = ['e'.repeat(32)];

function cookieAt(now: number): string {
  let value = '';
  const res = { req: {}, cookie: (_name: string, given: string) => (value = given) } as unknown as Response;
  new DeviceCookies(SECRETS, false, () => now).set(res, { id: 'ann', credentialsVersion: 3 });
  return `device=${value}`;
}

const readAt = (now: number, cookie?: string) =>
  new DeviceCookies(SECRETS, false, () => now).find({ headers: { cookie } } as Pick<Request, 'headers'>);

describe('the device cookie', () => {
  it('names its user, the version of the credentials, and the device', () => {
    const device = readAt(2_000, `sid=x; ${cookieAt(1_000)}; other=y`);
    expect(device).toEqual({
      userId: 'ann',
      credentialsVersion: 3,
      id: expect.stringMatching(/^[\w-]{22}$/) as string,
    });
  });

  // guard unit-device-cookies-1: the device cookie is valid for a year, even if the client keeps it longer
  // src/features/auth/device-cookies.ts
  // - if (Number(issuedAt) + YEAR_MS <= this.now()) return undefined;
  it('expires after a year, even if the client keeps it longer', () => {
    const cookie = cookieAt(1_000);
    expect(readAt(1_000 + YEAR_MS - 1, cookie)).toMatchObject({ userId: 'ann' });
    expect(readAt(1_000 + YEAR_MS, cookie)).toBeUndefined();
  });

  it('reads as undefined when the request has none', () => {
    expect(readAt(1_000)).toBeUndefined();
    expect(readAt(1_000, 'mydevice=x; sid=y')).toBeUndefined();
  });

  it('is not set on an answer that has begun, such as the 503 of the deadline', () => {
    const cookie = jest.fn();
    const res = { headersSent: true, cookie } as unknown as Response;
    new DeviceCookies(SECRETS, false).set(res, { id: 'ann', credentialsVersion: 3 });
    expect(cookie).not.toHaveBeenCalled();
  });

  it('needs a secret', () => {
    expect(() => new DeviceCookies([], false)).toThrow('need a secret');
  });
});
