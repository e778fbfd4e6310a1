import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Forbidden } from '../base/errors';

/** Headers that pages of the listed origins may read and send. */
const EXPOSED = 'X-Reason, Retry-After, X-Request-Id, X-Reqid, X-Session-Token, X-Device-Token';
const ALLOWED = 'Content-Type, X-Request-Id, Authorization, Content-MD5, X-Session, X-Device-Token';

export const WRITING = ['POST', 'PUT', 'DELETE'];

declare module 'express-serve-static-core' {
  interface Request {
    /** Whether a page of another site sends it, whose origin is not listed. */
    isForeign?: boolean;
  }
}

/**
 * Refuses requests from pages of other sites, which would use a visitor's cookie, but admits the listed origins.
 * Clients other than browsers send neither header, and pass.
 */
export function crossSite(allowed: readonly string[], publicUrl?: string): RequestHandler {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return (req, res, next) => {
    const origin = req.get('Origin');
    if (origin !== undefined && allowed.includes(origin)) allow(origin, req, res, next);
    else {
      req.isForeign = isForeign(req, origin, publicOrigin);
      if (WRITING.includes(req.method)) refuseForeign(req);
      next();
    }
  };
}

/** Refuses a GET like a POST, where it takes something of the visitor. */
export function refuseForeign({ isForeign }: Request): void {
  if (isForeign)
    throw new Forbidden(
      'cross_site',
      'cross-site requests are refused: the operator lists allowed origins in CORS_ORIGINS',
    );
}

function isForeign(req: Request, origin: string | undefined, publicOrigin: string | undefined): boolean {
  const site = req.get('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !ownOrigins(req, publicOrigin).includes(origin);
}

/** Returns own origins. Host counts only without PUBLIC_URL: other sites may point here, and a proxy may change it. */
function ownOrigins({ protocol, headers: { host = '' } }: Request, publicOrigin: string | undefined): string[] {
  return publicOrigin === undefined ? [`https://${host}`, `${protocol}://${host}`] : [publicOrigin];
}

function allow(origin: string, req: Request, res: Response, next: NextFunction): void {
  res.vary('Origin');
  res.set('Access-Control-Allow-Origin', origin);
  res.set('Access-Control-Allow-Credentials', 'true');
  res.set('Access-Control-Expose-Headers', EXPOSED);
  if (req.method !== 'OPTIONS') {
    next();
    return;
  }
  res.set('Access-Control-Allow-Methods', WRITING.join(', '));
  res.set('Access-Control-Allow-Headers', ALLOWED);
  res.set('Access-Control-Max-Age', '600');
  res.status(204).end();
}
