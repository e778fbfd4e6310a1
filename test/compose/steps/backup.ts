import { Crowd } from '../crowd';
import type { Deployment } from '../deployment';
import { dockerOutput } from '../docker';
import { nodeImage } from '../folder';
import { ensure, type Step } from '../step';

const REQUESTS = 500;

/** Makes a backup, and restores it where every volume is new. */
export const backup: Step = {
  name: 'backup',
  async play(stage) {
    const deployment = await stage.deployment();
    const way = await stage.way();
    const crowd = await Crowd.gather(way);
    try {
      const used = await crowd.runDuring(async () => {}, REQUESTS);
      await deployment.compose('run', '--rm', '-T', 'backup', 'now');
      await deployment.compose('down', '--volumes');
      await deployment.compose('run', '--rm', '-T', 'restore', 'latest');
      await deployment.up();
      await way.findAddresses();
      const lost = await crowd.lost();
      ensure(lost.length === 0, `the restored deployment lacks ${lost.join('; ')}`);
      return `${used}; the same people, sessions and images after a restore into new volumes`;
    } finally {
      await removeBackups(deployment);
    }
  },
};

/** Removes backups in a container, since they belong to root, who may not be the user of this run. */
async function removeBackups({ tree }: Deployment): Promise<void> {
  await dockerOutput(['run', '--rm', '--volume', `${tree}:/tree`, nodeImage(), 'rm', '-rf', '/tree/backups']);
}
