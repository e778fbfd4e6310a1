import type { Deployment } from './deployment';
import { dockerOutput } from './docker';

/** As many replicas as that, without touching those that run. */
export function scale(deployment: Deployment, replicas: number): Promise<void> {
  return up(deployment, replicas, '--no-recreate');
}

export async function restartInTurn(deployment: Deployment): Promise<void> {
  for (const { name } of await deployment.containers('service')) {
    await dockerOutput(['restart', name]);
    await deployment.healthy(name);
  }
}

/**
 * As docs/deploying.md tells it: one more, of the build that was made last; then the others, each in its place; then
 * without the one. Their numbers stay, by which the proxy knows them.
 */
export async function replace(deployment: Deployment): Promise<void> {
  const { length } = await deployment.containers('service');
  await scale(deployment, length + 1);
  await up(deployment, length + 1);
  await scale(deployment, length);
}

function up(deployment: Deployment, replicas: number, ...more: string[]): Promise<void> {
  return deployment.up('--no-deps', '--no-build', ...more, '--scale', `service=${replicas}`, 'service');
}
