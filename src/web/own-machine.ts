import type { Request, RequestHandler } from 'express';
import { NotFound } from '../base/errors';
import { plainAddress } from '../base/networks';

export const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** A proxy or a tunnel on this machine asks for somebody who may be anywhere. */
const SET_BY_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * Lets requests in that come from this machine, by its own name: a page of another site could give its name the address
 * of this machine. And none of a page of another origin, also where CORS_ORIGINS lists it.
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

/** A browser names the origin also where it is the page's own, for modules. */
function isFromForeignPage(req: Request): boolean {
  const site = req.get('Sec-Fetch-Site') ?? 'none';
  const own = `http://${req.headers.host ?? ''}`;
  return (req.get('Origin') ?? own) !== own || (site !== 'same-origin' && site !== 'none');
}
