import { Router } from 'express';
import { Unavailable } from '../errors';
import { ok } from './operation';
import { nameRoute } from './request-log';

/** For whoever restarts or routes: /healthz says that the process lives, /readyz that it can serve. */
export function healthRouter(isReady: () => Promise<boolean>): Router {
  const router = Router();

  router.get('/healthz', nameRoute('/healthz'), (_req, res) => {
    ok(res);
  });

  router.get('/readyz', nameRoute('/readyz'), async (_req, res) => {
    if (!(await isReady())) throw new Unavailable('the database lacks migrations: run npm run migrate');
    ok(res);
  });

  return router;
}
