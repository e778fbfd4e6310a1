import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../src/errors';
import { SyncQueue } from '../../src/features/sync/sync-queue';

describe('SyncQueue', () => {
  it('runs one job of a user at a time, in order, also after a failure', async () => {
    const queue = new SyncQueue();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await sleep(5);
      events.push(`${name} ends`);
      if (name === 'second') throw new Error('no');
      return name;
    };
    const ends = await Promise.allSettled(
      ['first', 'second', 'third'].map((name) => queue.run('ann', 1_000, work(name))),
    );
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const inOrder = ['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]);
    expect(events).toEqual(inOrder);
  });

  it('refuses with 503 a job that has waited for too long, and still runs the others', async () => {
    const queue = new SyncQueue();
    const slow = queue.run('ann', 10, () => sleep(100, 'done'));
    const work = jest.fn(async () => 'done');
    const impatient = Array.from({ length: 3 }, () => queue.run('ann', 10, work));
    const patient = queue.run('ann', 1_000, async () => 'done too');
    for (const one of impatient) await expect(one).rejects.toBeInstanceOf(Unavailable);
    expect(work).not.toHaveBeenCalled();
    expect([await slow, await patient]).toEqual(['done', 'done too']);
  });

  it('gives users turns: who has 60 jobs delays another by one of them', async () => {
    const queue = new SyncQueue();
    const order: string[] = [];
    const work = (name: string) => async () => {
      await sleep(1);
      order.push(name);
    };
    const jobs = Array.from({ length: 60 }, () => queue.run('ann', 10_000, work('ann')));
    for (const name of ['bob', 'cat', 'bob']) jobs.push(queue.run(name, 10_000, work(name)));
    await Promise.all(jobs);
    // One of ann's was under way, and one was next.
    expect(order.slice(0, 7)).toEqual(['ann', 'ann', 'bob', 'cat', 'ann', 'bob', 'ann']);
    expect(order).toHaveLength(63);
  });

  it('gives a turn soon to whoever comes later, and asks for one job after another', async () => {
    const queue = new SyncQueue();
    const order: string[] = [];
    const run = (name: string) =>
      queue.run(name, 10_000, async () => {
        await sleep(1);
        order.push(name);
      });
    const many = Array.from({ length: 60 }, () => run('ann'));
    await many[9];
    for (let count = 0; count < 3; count += 1) await run('bob');
    const between = order.slice(order.indexOf('bob'), order.lastIndexOf('bob')).filter((name) => name === 'ann');
    expect(order.indexOf('bob')).toBeLessThanOrEqual(12);
    expect(between.length).toBeLessThanOrEqual(4);
    await Promise.all(many);
  });
});
