import type { Deployment } from './deployment';
import { dockerOutput } from './docker';

/** Scales to this number of replicas without touching running ones. */
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
 * Replaces replicas as docs/deploying.md describes: adds one of the latest build, then replaces the others in place,
 * then removes the added one. Their numbers, by which the proxy knows them, stay.
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
