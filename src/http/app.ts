import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Router } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { findSender, trusting } from './client-address';
import { crossSite } from './cross-site';
import { refuseEarlyWrites } from './early-data';
import { unknownPath } from './error-handler';
import { requestLog } from './request-log';

export interface Routers {
  operations: RequestHandler;
  health: Router;
  jwks: Router;
  /** What clients show of captchas. */
  captchas: Router;
  uploads: Router;
  openApi: Router;
  /** For people with a browser. */
  pages: Router[];
}

export interface AppSettings {
  trustProxy: false | number | string[];
  corsOrigins: string[];
  publicUrl?: string | undefined;
}

export interface AppParts {
  routers: Routers;
  onError: ErrorRequestHandler;
  logger: Logger;
}

export function createApp(parts: AppParts, { trustProxy, corsOrigins, publicUrl }: AppSettings): Express {
  const { routers, onError, logger } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.set('trust proxy', trusting(app.get('trust proxy fn') as Parameters<typeof trusting>[0]));

  app.use(requestLog(logger));
  app.use(findSender(logger));
  app.use(sameHeaders);
  app.use(crossSite(corsOrigins, publicUrl));
  app.use(refuseEarlyWrites);

  app.use(routers.operations);
  app.use(routers.health);
  app.use(routers.openApi);
  app.use('/.well-known', routers.jwks);
  app.use('/captcha', routers.captchas);
  for (const page of routers.pages) app.use(page);
  app.use(routers.uploads);

  app.use(unknownPath);
  app.use(onError);
  return app;
}

/** Notes the headers as they are spelt. */
class NotingResponse extends ServerResponse {
  readonly noted: [name: string, value: string][] = [];

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.noted.push([name, String(value)]);
    return this;
  }
}

const NONE = ["'none'"];

/** Answers are JSON and images: no page, no script, no frame. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: NONE, objectSrc: NONE, baseUri: NONE, frameAncestors: NONE },
  },
});

/** Those of every answer; the few answers that may be stored overwrite the last. */
const SAME_HEADERS = [...headersBy(securityHeaders), ['Cache-Control', 'no-store'] as const];

const sameHeaders: RequestHandler = (_req, res, next) => {
  for (const [name, value] of SAME_HEADERS) res.setHeader(name, value);
  next();
};

/** What helmet sets is the same each time, so that it is asked once. */
function headersBy(middleware: typeof securityHeaders): [name: string, value: string][] {
  const request = new IncomingMessage(new Socket());
  const answer = new NotingResponse(request);
  middleware(request, answer, () => {});
  return answer.noted;
}
