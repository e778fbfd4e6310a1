import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { findSender, trusting } from './client-address';
import { crossSite } from './cross-site';
import { refuseEarlyWrites } from './early-data';
import { unknownPath } from './error-handler';
import { sameHeaders } from './head';
import { requestLog, type RequestObserver } from './request-log';
import { chain } from './route';

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

export interface AppDeps {
  /** Routers in order: the first that knows a path answers. */
  routers: Mounted[];
  onError: ErrorRequestHandler;
  logger: Logger;
  /** Reads sessions of clients that send them in a header. */
  bearer?: RequestHandler | undefined;
  /** Told of the end of each request. */
  observe?: RequestObserver | undefined;
  /** Encloses each request, so that its observer knows what belongs to it. */
  enclose?: RequestHandler | undefined;
}

export function createApp(deps: AppDeps, { trustProxy, corsOrigins, publicUrl }: AppSettings): Express {
  const { routers, onError, logger, bearer, observe, enclose } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.set('trust proxy', trusting(app.get('trust proxy fn') as Parameters<typeof trusting>[0]));

  const first = [
    requestLog(logger, observe),
    ...(enclose ? [enclose] : []),
    findSender(logger),
    sameHeaders,
    crossSite(corsOrigins, publicUrl),
    refuseEarlyWrites,
    ...(bearer ? [bearer] : []),
  ];
  // As one layer: Express would match the path of each.
  app.use((req, res, next) => chain(first, req, res, next));

  for (const { at = '/', router } of routers) app.use(at, router);

  app.use(unknownPath);
  app.use(onError);
  return app;
}
