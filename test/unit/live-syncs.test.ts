import { LiveSync, LiveSyncs } from '../../src/features/sync/live-syncs';

const HOUR = 3_600_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('syncs that wait', () => {
  it('look for a change eight at a time, the next when one has looked, has left or waits again', async () => {
    const lives = new LiveSyncs(() => () => Promise.reject(new Error('no database')));
    const waiting = Array.from({ length: 20 }, () => new LiveSync(lives, () => undefined));
    const looking: LiveSync[] = [];
    for (const live of waiting) void live.wait(HOUR).then(() => looking.push(live));
    for (const live of waiting) live.change();
    await turn();
    expect(looking).toEqual(waiting.slice(0, 8));

    waiting[0]?.endTurn();
    waiting[1]?.leave();
    void waiting[2]?.wait(HOUR);
    waiting[11]?.leave();
    await turn();
    expect(looking).toEqual(waiting.slice(0, 12));
    for (const live of waiting) live.leave();
    await turn();
    expect(looking).toHaveLength(20);
  });
});
