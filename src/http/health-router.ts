import { Router } from 'express';
import type { DatabaseProbe } from '../database/probe';
import { Unavailable } from '../errors';
import { get, ok } from './route';

const REMEDIES = {
  'migrations are missing': 'the database lacks migrations: run npm run migrate',
  'takes no writes': 'the database takes no writes: it is a standby or read-only',
};

/** Whether requests should be sent here. */
export class Health {
  private isStopping = false;

  constructor(private readonly probe: DatabaseProbe) {}

  announceStop(): void {
    this.isStopping = true;
  }

  async check(): Promise<void> {
    if (this.isStopping) throw new Unavailable('stopping', 'this instance is stopping');
    const state = await this.probe.state();
    if (state !== 'ready') throw new Unavailable('not_ready', REMEDIES[state]);
  }
}

/** /healthz says that the process lives, for its supervisor; /readyz that it can serve, for the load balancer. */
export function healthRouter(health: Health): Router {
  const router = Router();

  get(router, '/healthz', (_req, res) => {
    ok(res);
  });

  get(router, '/readyz', async (_req, res) => {
    await health.check();
    ok(res);
  });

  return router;
}
