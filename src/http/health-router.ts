import { Router } from 'express';
import { Unavailable } from '../base/errors';
import type { DatabaseProbe } from '../database/probe';
import { done, type Endpoint } from './endpoint';
import { get, ok } from './route';

const REMEDIES = {
  'migrations are missing': 'the database lacks migrations: run npm run migrate',
  'does not take writes': 'the database does not take writes: it is a standby or read-only',
};

/** Decides whether requests should be sent to this instance. */
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

export const healthz: Endpoint = {
  method: 'get',
  path: '/healthz',
  name: 'healthz',
  summary: 'Tells whether the process is running.',
  answer: { type: 'application/json', result: done },
};

export const readyz: Endpoint = {
  method: 'get',
  path: '/readyz',
  name: 'readyz',
  summary: 'Tells whether requests should be sent to this instance.',
  answer: { type: 'application/json', result: done },
  refusals: ['stopping', 'not_ready', 'overloaded'],
};

/** Routes /healthz, which tells a supervisor that the process runs, and /readyz, for the load balancer. */
export function healthRouter(health: Health): Router {
  const router = Router();

  get(router, healthz.path, (_req, res) => {
    ok(res);
  });

  get(router, readyz.path, async (_req, res) => {
    await health.check();
    ok(res);
  });

  return router;
}
