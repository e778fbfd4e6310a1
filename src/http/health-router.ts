import { Router } from 'express';
import { Unavailable } from '../errors';
import { get, ok } from './operation';

/** For whoever restarts or routes: /healthz says that the process lives, /readyz that it can serve. */
export function healthRouter(isReady: () => Promise<boolean>): Router {
  const router = Router();

  get(router, '/healthz', (_req, res) => {
    ok(res);
  });

  get(router, '/readyz', async (_req, res) => {
    if (!(await isReady())) throw new Unavailable('the database lacks migrations: run npm run migrate');
    ok(res);
  });

  return router;
}
