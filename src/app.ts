import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Router } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { byFirstWord } from './http/by-first-word';
import { crossSite } from './http/cross-site';
import type { Deadline } from './http/deadline';
import { unknownPath } from './http/error-handler';
import { requestLog } from './http/request-log';

/** One router a resource; those under /user in the order in which they are asked. */
export interface Routers {
  health: Router;
  jwks: Router;
  captchaImages: Router;
  uploads: Router;
  user: Router[];
}

export interface AppSettings {
  trustProxy: false | number | string[];
  corsOrigins: string[];
}

export interface AppParts {
  routers: Routers;
  deadline: Deadline;
  onError: ErrorRequestHandler;
  logger: Logger;
}

export function createApp(parts: AppParts, { trustProxy, corsOrigins }: AppSettings): Express {
  const { routers, deadline, onError, logger } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);

  app.use(requestLog(logger));
  app.use(securityHeaders);
  app.use(neverStored);
  app.use(crossSite(corsOrigins));

  app.use('/user', deadline.watch, byFirstWord(routers.user));
  app.use(routers.health);
  app.use('/.well-known', routers.jwks);
  app.use('/captcha', routers.captchaImages);
  app.use(routers.uploads);

  app.use(unknownPath);
  app.use(onError);
  return app;
}

const NONE = ["'none'"];

/** What is served is JSON and images: no page, no script, no frame. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: NONE, objectSrc: NONE, baseUri: NONE, frameAncestors: NONE },
  },
});

/** What may be stored after all says so itself. */
const neverStored: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store');
  next();
};
