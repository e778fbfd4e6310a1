import type { RequestHandler } from 'express';
import { TooEarly } from '../base/errors';
import { WRITING } from './cross-site';

/**
 * Refuses writes in TLS early data, which a proxy marks (RFC 8470): an eavesdropper can replay it. Clients that send
 * early data repeat the request after the handshake.
 */
export const refuseEarlyWrites: RequestHandler = (req, _res, next) => {
  if (req.headers['early-data'] !== undefined && WRITING.includes(req.method)) throw new TooEarly();
  next();
};
