import type { Request, RequestHandler } from 'express';
import { NotFound } from '../base/errors';
import { plainAddress } from '../base/networks';

export const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** Headers of a proxy or tunnel on this machine, whose client may be anywhere. */
const SET_BY_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * Admits requests from this machine, under its own name: a page of another site could point its name to this machine.
 * Refuses pages of other origins, even those in CORS_ORIGINS.
 */
export const fromThisMachine: RequestHandler = (req, _res, next) => {
  if (!isFromThisMachine(req) || !isByOwnName(req) || isFromForeignPage(req))
    throw new NotFound(
      'no_such_path',
      'this page is shown only to a browser on this machine, at localhost or 127.0.0.1',
    );
  next();
};

function isFromThisMachine({ socket, headers }: Request): boolean {
  const address = plainAddress(socket.remoteAddress) ?? '';
  const isLoopback = address === '::1' || address.startsWith('127.');
  return isLoopback && !SET_BY_PROXIES.some((name) => headers[name] !== undefined);
}

function isByOwnName({ headers: { host = '' } }: Request): boolean {
  return OWN_NAMES.includes(host.replace(/:\d{1,5}$/, '').toLowerCase());
}

/** Returns whether another origin's page asks. For modules, a browser also sends the origin of the page itself. */
function isFromForeignPage(req: Request): boolean {
  const site = req.get('Sec-Fetch-Site') ?? 'none';
  const own = `http://${req.headers.host ?? ''}`;
  return (req.get('Origin') ?? own) !== own || (site !== 'same-origin' && site !== 'none');
}
