import type { Express } from 'express';
import type { Config } from '../config/config';
import { DeviceCookies, deviceCookieName } from '../features/auth/device-cookies';
import { SessionCookies, sessionCookieName } from '../features/sessions/session-cookies';
import { SessionReader } from '../features/sessions/session-reader';
import { SessionStore } from '../features/sessions/session-store';
import { changesRouter } from '../features/sync/changes-router';
import { createApp, type Mounted } from '../http/app';
import { bearerSessions } from '../http/bearer';
import { cookieReader } from '../http/cookies';
import { Deadline } from '../http/deadline';
import { errorHandler, failWith } from '../http/error-handler';
import { Health, healthRouter } from '../http/health-router';
import { openApiRouter } from '../http/openapi-router';
import type { Operation } from '../http/operation';
import { operationsRouter } from '../http/operations-router';
import { operations } from './operations';
import { pages } from './pages';
import type { Outside } from './open-foundation';
import { buildServices, type Services } from './services';

export interface ContainerOptions {
  /** Address of the metrics, once they are served. */
  metricsUrl?: () => string | undefined;
  /** Wraps each operation, for instance to compare its answers with its description. */
  wrap?: (operation: Operation) => Operation;
}

export interface Container {
  app: Express;
  services: Services;
  /** Makes /readyz answer 503, so that a load balancer sends requests to other instances. */
  announceStop(): void;
  close(): Promise<void>;
}

/** Builds the whole service: the composition root. */
export async function buildContainer(
  config: Config,
  outside: Outside,
  { wrap = (operation) => operation, metricsUrl = () => undefined }: ContainerOptions = {},
): Promise<Container> {
  const { keys, logger, observers, deadlineMs } = outside;
  const services = await buildServices(config, outside);
  const { connections } = services;

  const names = { session: sessionCookieName(config.production), device: deviceCookieName(config.production) };
  const reader = new SessionReader(connections.reads, cookieReader(names.session), keys.sessionSecrets);
  const store = new SessionStore(connections.pool, services.repos.sessions, logger);
  const sessionRules = { secrets: keys.sessionSecrets, production: config.production, ...config.sessions };
  const cookies = new SessionCookies(store, reader, sessionRules);
  const devices = new DeviceCookies(keys.sessionSecrets, config.production);

  const health = new Health(connections.probe, connections.reading.replica);
  const fail = failWith(logger);
  const onError = errorHandler(fail);
  const deadline = new Deadline(fail, deadlineMs);
  const resources = operations(services, { cookies, devices }, services.publicUrlOf);
  const access = { visitor: cookies.load, user: cookies.signedIn, reader: cookies.reading };
  const { watch, rest } = deadline;
  const entrance = { watch, rest, fail, ...access, queues: services.queues, limiter: services.limiter };
  const { inbox, meter } = services;
  const pageDeps = { inbox, meter, metricsUrl, inboxToken: keys.inboxToken };
  const routers: Mounted[] = [
    // Before /user/:id, which would refuse a GET.
    { router: changesRouter(services.sync, { reading: cookies.reading, rest }) },
    {
      router: operationsRouter(Object.values(resources).flat().map(wrap), entrance),
    },
    {
      router: openApiRouter(
        { production: config.production, hasDocsPage: config.http.docsPage, publicUrlOf: services.publicUrlOf },
        meter,
      ),
    },
    { at: '/.well-known', router: services.jwks },
    { at: '/captcha', router: services.captchaRouter },
    { router: services.receipts },
    ...pages(config, pageDeps).map((router) => ({ router })),
    { router: healthRouter(health) },
    { router: services.uploads },
  ];
  services.parts.begin();

  const appDeps = { routers, onError, logger, bearer: bearerSessions(names) };
  return {
    app: createApp({ ...appDeps, observe: observers?.request, enclose: observers?.enclose }, config.http),
    services,
    announceStop: () => {
      health.announceStop();
      // Their clients ask another instance.
      services.lives.close();
    },
    close: async () => {
      store.close();
      deadline.close();
      await services.parts.close();
    },
  };
}
