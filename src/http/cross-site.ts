import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Forbidden } from '../errors';

export const WRITING = ['POST', 'PUT', 'DELETE'];

/**
 * Refuses requests from pages of other sites, which would use a visitor's cookie, and lets the listed origins in.
 * Clients other than browsers send neither header, and pass.
 */
export function crossSite(allowed: readonly string[], publicUrl?: string): RequestHandler {
  const scheme = publicUrl === undefined ? undefined : new URL(publicUrl).protocol;
  return (req, res, next) => {
    const origin = req.get('Origin');
    if (origin !== undefined && allowed.includes(origin)) allow(origin, req, res, next);
    else if (isForeign(req, origin, scheme) && WRITING.includes(req.method))
      throw new Forbidden(
        'cross_site',
        'cross-site requests are refused: the operator lists allowed origins in CORS_ORIGINS',
      );
    else next();
  };
}

function isForeign(req: Request, origin: string | undefined, scheme = `${req.protocol}:`): boolean {
  const site = req.get('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !isSame(origin, req.get('Host'), scheme);
}

/** A page that came over HTTP, or out of an app's own scheme, may be anybody's, whatever host it names. */
function isSame(origin: string, host: string | undefined, scheme: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  return named === host && (protocol === 'https:' || protocol === scheme);
}

function allow(origin: string, req: Request, res: Response, next: NextFunction): void {
  res.vary('Origin');
  res.set('Access-Control-Allow-Origin', origin);
  res.set('Access-Control-Allow-Credentials', 'true');
  res.set('Access-Control-Expose-Headers', 'X-Reason, Retry-After, X-Request-Id, X-Reqid');
  if (req.method !== 'OPTIONS') {
    next();
    return;
  }
  res.set('Access-Control-Allow-Methods', WRITING.join(', '));
  res.set('Access-Control-Allow-Headers', 'Content-Type, X-Request-Id, Authorization, Content-MD5');
  res.set('Access-Control-Max-Age', '600');
  res.status(204).end();
}
