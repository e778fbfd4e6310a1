import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { plainAddress } from '../base/networks';

declare module 'express-serve-static-core' {
  interface Request {
    /** The client's address, found once: a socket that is closed has none. */
    sentFrom: string;
  }
}

/** Finds where a request comes from. Warns once of a proxy that does not tell: each request through it is the same. */
export function findSender(logger: Pick<Logger, 'warn'>): RequestHandler {
  let warned = false;
  return (req, _res, next) => {
    const { ip } = req;
    req.sentFrom = ipFrom(ip, req.socket.remoteAddress);
    if (!warned && ip !== undefined && plainAddress(ip) === undefined) {
      warned = true;
      logger.warn(
        { requestId: req.id },
        'a proxy gave a client address that is none: such clients are counted by the address of the proxy',
      );
    }
    next();
  };
}

/**
 * Express finds `ip` by TRUST_PROXY. What a proxy gives as an address and is none is worth nothing: then it is the
 * address of the proxy itself.
 */
export function ipFrom(ip: string | undefined, remoteAddress: string | undefined): string {
  return plainAddress(ip) ?? plainAddress(remoteAddress) ?? 'unknown';
}

/** Express's answer to "is this proxy trusted?", asked with plain addresses. */
export function trusting(isTrusted: (address: string, hop: number) => boolean) {
  return (address: string, hop: number) => isTrusted(plainAddress(address) ?? address, hop);
}
