import { randomBytes } from 'node:crypto';
import { Person } from '../../faults/person';
import { until } from '../../support/until';
import type { Deployment } from '../deployment';
import { docker } from '../docker';
import { scale } from '../roll';
import { ensure, type Step } from '../step';

const REQUESTS = 100;
const FEWEST = 20;

/** Two replicas share the requests of one session. */
export const replicas: Step = {
  name: 'replicas',
  async play(stage) {
    const deployment = await stage.deployment();
    const way = await stage.way();
    await scale(deployment, 2);
    const person = new Person(way.calls, way.inbox, () => []);
    ensure(await person.arrive(), 'registration failed');
    const [cookie] = person.cookies;
    const ask = async (id: string) => {
      const { status } = await way.calls.post('/user/groups', { cookie, headers: { 'X-Request-Id': id } });
      ensure(status === 200, `a session was answered with ${status}`);
    };

    const first = newPrefix();
    await until(
      async () => {
        await Promise.all(Array.from({ length: 8 }, (_, number) => ask(`${first}-${number}`)));
        return (await countsOf(deployment, first)).every((count) => count > 0);
      },
      30_000,
      500,
    );
    const prefix = newPrefix();
    for (let count = 0; count < REQUESTS; count += 1) await ask(`${prefix}-${count}`);
    let counts: number[] = [];
    const sum = () => counts.reduce((all, count) => all + count, 0);
    await until(async () => ((counts = await countsOf(deployment, prefix)), sum() === REQUESTS), 15_000, 500);
    ensure(Math.min(...counts) >= FEWEST, `of ${REQUESTS} requests the replicas got ${counts.join(' and ')}`);
    return `of ${REQUESTS} requests of a session the two got ${counts.join(' and ')}, all were answered`;
  },
};

const newPrefix = () => `replicas-${randomBytes(4).toString('hex')}`;

/** Returns the number of requests with such an id that each replica has logged. */
async function countsOf(deployment: Deployment, prefix: string): Promise<number[]> {
  const containers = await deployment.containers('service');
  return Promise.all(
    containers.map(
      async ({ id }) => (await docker(['logs', id])).stdout.split(`"clientRequestId":"${prefix}-`).length - 1,
    ),
  );
}
