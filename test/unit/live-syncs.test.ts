import { silent } from '../support/silent';
import { LiveSync, LiveSyncs } from '../../src/features/sync/live-syncs';
import { openQueues } from '../../src/load/queues';

const HOUR = 3_600_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const look = (live: LiveSync) => live.wait(HOUR).then(() => live.turn());

describe('syncs that wait', () => {
  // guard live-syncs-1: a change for thousands does not delay the requests of others
  // src/features/sync/live-syncs.ts
  // - this.leaveTurn = await this.lives.syncChecks.enter(this.userId, options);
  it('look for a change eight at a time, the next when one has left or waits again', async () => {
    const { waiting, looking } = told(Array.from({ length: 20 }, (_, number) => `user ${number}`));
    await turn();
    expect(looking).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);

    waiting[8]?.leave();
    waiting[1]?.leave();
    void waiting[2]?.wait(HOUR);
    await turn();
    expect(looking.slice(8)).toEqual([8, 9, 10]);
    for (const live of waiting) live.leave();
    await turn();
    expect(looking).toHaveLength(20);
  });

  // guard live-syncs-2: a user with many waits does not delay those of others
  // src/load/queues.ts
  // - atOnce: 8, share: 2
  // + atOnce: 8
  it('look for a change two at a time of one user', async () => {
    const { waiting, looking } = told(['ann', 'ann', 'ann', 'bob', 'ann']);
    await turn();
    expect(looking).toEqual([0, 1, 3]);
    waiting[0]?.leave();
    await turn();
    expect(looking).toEqual([0, 1, 3, 2]);
    for (const live of waiting) live.leave();
  });

  // guard live-syncs-3: a change that is heard while a sync looks is not missed
  // src/features/sync/live-syncs.ts
  // - if (this.state === 'looking') this.state = 'stale'; else this.endWait(true);
  // + this.endWait(true);
  it('do not wait after a change that came while they looked', async () => {
    const { waiting } = told(['ann']);
    await turn();
    waiting[0]?.change();
    const ended: unknown[] = [];
    void waiting[0]?.wait(HOUR).then((isChange) => ended.push(isChange));
    await turn();
    waiting[0]?.leave();
    expect(ended).toEqual([true]);
  });
});

/** Returns syncs of these users, which have been told of a change, and the numbers of those that look for it. */
function told(userIds: string[]) {
  const away = () => () => Promise.reject(new Error('no database'));
  const lives = new LiveSyncs(away, openQueues().liveLooks, silent);
  const waiting = userIds.map((userId) => new LiveSync(lives, userId, () => () => undefined));
  const looking: number[] = [];
  waiting.forEach((live, number) => void look(live).then(() => looking.push(number)));
  for (const live of waiting) live.change();
  return { waiting, looking };
}
