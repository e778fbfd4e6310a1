import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../src/errors';
import { SyncQueue } from '../../src/features/sync/sync-queue';

describe('SyncQueue', () => {
  it('runs one job at a time, in order, also after a failure', async () => {
    const queue = new SyncQueue();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await sleep(5);
      events.push(`${name} ends`);
      if (name === 'second') throw new Error('no');
      return name;
    };
    const ends = await Promise.allSettled(['first', 'second', 'third'].map((name) => queue.run(1_000, work(name))));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const inOrder = ['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]);
    expect(events).toEqual(inOrder);
  });

  it('refuses with 503 a job that has waited for too long, and still runs the others', async () => {
    const queue = new SyncQueue();
    const slow = queue.run(10, () => sleep(100, 'done'));
    const work = jest.fn(async () => 'done');
    const impatient = Array.from({ length: 3 }, () => queue.run(10, work));
    const patient = queue.run(1_000, async () => 'done too');
    for (const one of impatient) await expect(one).rejects.toBeInstanceOf(Unavailable);
    expect(work).not.toHaveBeenCalled();
    expect([await slow, await patient]).toEqual(['done', 'done too']);
  });
});
