import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { plainAddress } from '../base/networks';

declare module 'express-serve-static-core' {
  interface Request {
    /** Address of the client, found at the start: a closed socket does not have one. */
    sentFrom: string;
  }
}

/** Finds the client address. Warns once about a proxy that does not tell it: every request through it is the same. */
export function findSender(logger: Pick<Logger, 'warn'>): RequestHandler {
  let warned = false;
  return (req, _res, next) => {
    const { ip } = req;
    req.sentFrom = ipFrom(ip, req.socket.remoteAddress);
    if (!warned && ip !== undefined && plainAddress(ip) === undefined) {
      warned = true;
      logger.warn(
        { requestId: req.id },
        "a proxy sent an invalid client address: such clients are counted by the proxy's address",
      );
    }
    next();
  };
}

/**
 * Returns the client address. Express finds `ip` by TRUST_PROXY; if it is not a valid address, the address of the proxy
 * itself is used.
 */
export function ipFrom(ip: string | undefined, remoteAddress: string | undefined): string {
  return plainAddress(ip) ?? plainAddress(remoteAddress) ?? 'unknown';
}

/** Passes plain addresses to Express's check of whether a proxy is trusted. */
export function trusting(isTrusted: (address: string, hop: number) => boolean) {
  return (address: string, hop: number) => isTrusted(plainAddress(address) ?? address, hop);
}
