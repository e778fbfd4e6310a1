import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { CrossSite } from '../errors';

/**
 * Refuses requests from pages of other sites, which would use a visitor's cookie, and lets the listed origins in.
 * Clients other than browsers send neither header, and pass.
 */
export function crossSite(allowed: readonly string[]): RequestHandler {
  return (req, res, next) => {
    const origin = req.get('Origin');
    if (origin !== undefined && allowed.includes(origin)) allow(origin, req, res, next);
    else if (isForeign(req, origin) && req.method === 'POST')
      throw new CrossSite('cross-site requests are refused: the operator lists allowed origins in CORS_ORIGINS');
    else next();
  };
}

function isForeign(req: Request, origin: string | undefined): boolean {
  const site = req.get('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === req.get('Host'));
}

function allow(origin: string, req: Request, res: Response, next: NextFunction): void {
  res.vary('Origin');
  res.set('Access-Control-Allow-Origin', origin);
  res.set('Access-Control-Allow-Credentials', 'true');
  res.set('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
  if (req.method !== 'OPTIONS') {
    next();
    return;
  }
  res.set('Access-Control-Allow-Methods', 'POST');
  res.set('Access-Control-Allow-Headers', 'Content-Type, X-Request-Id');
  res.set('Access-Control-Max-Age', '600');
  res.status(204).end();
}
