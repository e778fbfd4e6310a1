import type { Foundation } from '../../foundation/foundation';
import { tallied } from '../../foundation/part';
import type { Limits } from '../../load/limits';
import { Limiter } from './limiter';
import { LimitsRepository } from './limits-repository';

const MET = { name: 'limit_refusals_total', help: 'Requests that a limit has refused.', labels: ['limit'] };

export function buildLimits({ connections, queues }: Foundation, limits: Limits) {
  const buckets = new LimitsRepository(connections.limits);
  const limiter = new Limiter(buckets, limits, queues);
  const sweeps = [{ name: 'limits', run: () => buckets.sweep() }];
  return { buckets, limiter, part: { sweeps, figures: [tallied(MET, limiter.met)] } };
}
