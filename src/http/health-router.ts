import { Router } from 'express';
import { z } from 'zod';
import { commandLine } from '../base/command-line';
import { Unavailable } from '../base/errors';
import type { DatabaseProbe } from '../database/probe';
import { REPLICA_STATES, type Replica, type ReplicaState } from '../database/replica';
import { done, doneCode, type Endpoint } from './endpoint';
import { get, ok } from './route';

const REMEDIES = {
  'migrations are missing': `the database lacks migrations: run ${commandLine('migrate')}`,
  'does not take writes': 'the database does not take writes: it is a standby or read-only',
};

/** Decides whether requests should be sent to this instance. */
export class Health {
  private isStopping = false;

  constructor(
    private readonly probe: DatabaseProbe,
    private readonly replica: Pick<Replica, 'present'> | undefined,
  ) {}

  announceStop(): void {
    this.isStopping = true;
  }

  /** Returns how the standby is, if there is one: without it the instance is ready too. */
  async check(): Promise<{ standby: ReplicaState } | undefined> {
    if (this.isStopping) throw new Unavailable('stopping', 'this instance is stopping');
    const database = await this.probe.state();
    if (database !== 'ready') throw new Unavailable('not_ready', REMEDIES[database]);
    return this.replica && { standby: this.replica.present };
  }
}

export const healthz: Endpoint = {
  method: 'get',
  path: '/healthz',
  name: 'healthz',
  summary: 'Tells whether the process is running.',
  answer: { type: 'application/json', result: done },
};

const ready = z
  .object({
    code: doneCode,
    result: z
      .object({ standby: z.enum(REPLICA_STATES).meta({ description: 'Whether the standby serves reads.' }) })
      .optional()
      .meta({ description: 'Only with DATABASE_REPLICA_URL.' }),
  })
  .meta({ id: 'Ready', description: 'The instance can serve.' });

export const readyz: Endpoint = {
  method: 'get',
  path: '/readyz',
  name: 'readyz',
  summary: 'Tells whether requests should be sent to this instance.',
  answer: { type: 'application/json', result: ready },
  refusals: ['stopping', 'not_ready', 'overloaded'],
};

/** Routes /healthz, which tells a supervisor that the process runs, and /readyz, for the load balancer. */
export function healthRouter(health: Health): Router {
  const router = Router();

  get(router, healthz.path, (_req, res) => {
    ok(res);
  });

  get(router, readyz.path, async (_req, res) => {
    const found = await health.check();
    ok(res, found);
  });

  return router;
}
