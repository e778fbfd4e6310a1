import { Crowd } from '../crowd';
import { restartInTurn, scale } from '../roll';
import type { Step } from '../step';

/** Two replicas are restarted one after the other, under load. */
export const rolling: Step = {
  name: 'rolling',
  async play(stage) {
    const deployment = await stage.deployment();
    await scale(deployment, 2);
    const crowd = await Crowd.gather(await stage.way());
    return crowd.during(() => restartInTurn(deployment));
  },
};
