import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../../src/errors';
import { Turns } from '../../src/features/sync/turns';

describe('Turns', () => {
  it('does one thing at a time, in order, whatever becomes of those before', async () => {
    const turns = new Turns();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await sleep(5);
      events.push(`${name} ends`);
      if (name === 'second') throw new Error('no');
      return name;
    };
    const ends = await Promise.allSettled(['first', 'second', 'third'].map((name) => turns.take(1_000, work(name))));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const inOrder = ['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]);
    expect(events).toEqual(inOrder);
  });

  it('refuses with 503 who has waited for too long, and lets more patient ones have their turn', async () => {
    const turns = new Turns();
    const slow = turns.take(10, () => sleep(100, 'done'));
    const work = jest.fn(async () => 'done');
    const impatient = Array.from({ length: 3 }, () => turns.take(10, work));
    const patient = turns.take(1_000, async () => 'done too');
    for (const one of impatient) await expect(one).rejects.toBeInstanceOf(Unavailable);
    expect(work).not.toHaveBeenCalled();
    expect([await slow, await patient]).toEqual(['done', 'done too']);
  });
});
