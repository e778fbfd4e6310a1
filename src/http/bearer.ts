import type { RequestHandler, Response } from 'express';

declare module 'express-serve-static-core' {
  interface Request {
    /** Whether the client keeps its session itself: it sends and gets it in headers in place of cookies. */
    isBearer?: boolean;
  }
}

/** Headers of answers that begin or renew a session, for such clients. */
export const SESSION_TOKEN = 'X-Session-Token';
export const DEVICE_TOKEN = 'X-Device-Token';

/** A session's id and signature. Does not match a JWT, which a proxy in front may send as a bearer of its own. */
const BEARER = /^Bearer +([\w-]+\.[A-Za-z0-9+/]+)$/i;
const DEVICE = /^[\w.-]{1,512}$/;

/**
 * Reads `Authorization: Bearer` as the cookie of the session, which is then found and checked as always. Such a request
 * has no other cookies: a browser may add them by itself, and a script must not get their session in a header.
 */
export function bearerSessions(names: { session: string; device: string }): RequestHandler {
  return (req, _res, next) => {
    const { authorization = '', 'x-session': kind, 'x-device-token': known } = req.headers;
    const [, token] = BEARER.exec(authorization) ?? [];
    if (token !== undefined || kind === 'bearer') {
      req.isBearer = true;
      const cookies = [
        ...(token === undefined ? [] : [`${names.session}=${encodeURIComponent(`s:${token}`)}`]),
        ...(typeof known === 'string' && DEVICE.test(known) ? [`${names.device}=${known}`] : []),
      ];
      req.headers.cookie = cookies.join('; ');
    }
    next();
  };
}

/** Moves the session's cookie of an answer into a header: `s%3A<id>.<signature>` becomes `<id>.<signature>`. */
export function asBearer(res: Response, cookies: string[]): void {
  const [, value] = cookies.map((cookie) => /^[^=]+=s%3A([^;]+)/.exec(cookie)).find(Boolean) ?? [];
  res.removeHeader('Set-Cookie');
  if (value !== undefined) res.setHeader(SESSION_TOKEN, decodeURIComponent(value));
}
