import { RoughClients } from '../../faults/rough-clients';
import { Crowd } from '../crowd';
import { restartInTurn, scale } from '../roll';
import type { Step } from '../step';

/** Two replicas are restarted in turn, under load and during malformed and slow requests. */
export const rolling: Step = {
  name: 'rolling',
  async play(stage) {
    const deployment = await stage.deployment();
    await scale(deployment, 2);
    const way = await stage.way();
    const crowd = await Crowd.gather(way);
    const rough = new RoughClients(() => way.connect());
    try {
      const told = await crowd.runDuring(() => restartInTurn(deployment));
      return `${told}, beside ${rough.malformed} malformed requests`;
    } finally {
      await rough.stop();
    }
  },
};
