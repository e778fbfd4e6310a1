import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { findSender, trusting } from './client-address';
import { crossSite } from './cross-site';
import { refuseEarlyWrites } from './early-data';
import { unknownPath } from './error-handler';
import { requestLog, type RequestObserver } from './request-log';

export interface Mounted {
  /** Path prefix of the router. */
  at?: string;
  router: RequestHandler;
}

export interface AppSettings {
  trustProxy: false | number | string[];
  corsOrigins: string[];
  publicUrl?: string | undefined;
}

export interface AppParts {
  /** Routers in order: the first that knows a path answers. */
  routers: Mounted[];
  onError: ErrorRequestHandler;
  logger: Logger;
  /** Told of the end of each request. */
  observe?: RequestObserver | undefined;
}

export function createApp(parts: AppParts, { trustProxy, corsOrigins, publicUrl }: AppSettings): Express {
  const { routers, onError, logger, observe } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.set('trust proxy', trusting(app.get('trust proxy fn') as Parameters<typeof trusting>[0]));

  app.use(requestLog(logger, observe));
  app.use(findSender(logger));
  app.use(sameHeaders);
  app.use(crossSite(corsOrigins, publicUrl));
  app.use(refuseEarlyWrites);

  for (const { at = '/', router } of routers) app.use(at, router);

  app.use(unknownPath);
  app.use(onError);
  return app;
}

/**
 * Headers of every answer: what helmet sets for JSON and images, which are not pages and contain no script or frame.
 * The few answers that may be stored set their own Cache-Control.
 */
export const SAME_HEADERS = {
  'Content-Security-Policy': "default-src 'none';object-src 'none';base-uri 'none';frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
  'Cache-Control': 'no-store',
};

const sameHeaderEntries = Object.entries(SAME_HEADERS);

const sameHeaders: RequestHandler = (_req, res, next) => {
  for (const [name, value] of sameHeaderEntries) res.setHeader(name, value);
  next();
};
