import { Router } from 'express';
import { Unavailable } from '../base/errors';
import type { DatabaseProbe } from '../database/probe';
import { done, type Endpoint } from './endpoint';
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

export const healthz: Endpoint = {
  method: 'get',
  path: '/healthz',
  name: 'healthz',
  summary: 'Whether the process lives.',
  answer: { type: 'application/json', result: done },
};

export const readyz: Endpoint = {
  method: 'get',
  path: '/readyz',
  name: 'readyz',
  summary: 'Whether requests should be sent here.',
  answer: { type: 'application/json', result: done },
  refusals: ['stopping', 'not_ready', 'overloaded'],
};

/** /healthz says that the process lives, for its supervisor; /readyz that it can serve, for the load balancer. */
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
