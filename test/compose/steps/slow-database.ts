import { stringify } from 'yaml';
import { ensure, type Step } from '../step';

/** Longer than an instance waits for its database by itself, and than most first starts take. */
const SLOW_SECONDS = 250;

/** A first start with a slow database: the service waits, and the proxy is started in the end. */
export const slowDatabase: Step = {
  name: 'slow-database',
  async play(stage) {
    const deployment = await stage.another('slow');
    const { command } = (await deployment.config()).services.postgres ?? {};
    const entrypoint = ['sh', '-c', `sleep ${SLOW_SECONDS}; exec docker-entrypoint.sh "$$0" "$$@"`];
    const postgres = { entrypoint, command: command ?? ['postgres'] };
    deployment.override('slow', stringify({ services: { postgres } }));
    await deployment.compose('build');

    const begun = performance.now();
    await deployment.up();
    const way = await stage.wayTo(deployment);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    ensure(await way.isReady(), 'the proxy has no ready instance');
    ensure(seconds >= SLOW_SECONDS, `the database was not slow: ${seconds} s`);
    const { id } = await deployment.onlyContainer('service');
    const restarts = await deployment.inspect(id, '{{.RestartCount}}');
    ensure(restarts === '0', `the service was restarted ${restarts} times`);
    await deployment.remove();
    return `a database that takes ${SLOW_SECONDS} s longer: ready by the proxy after ${seconds} s, no restart`;
  },
};
