import type { ReadAt } from '../../src/database/replica';
import { EventTail } from '../../src/features/events/event-tail';
import { until } from '../support/until';

describe('the tail of events', () => {
  // guard event-tail-1: a failure to read events for syncs that wait is logged
  // src/load/rounds.ts
  // - if (this.isOn) this.failed(error);
  // + void error;
  it('waits, and the log says so once, while it cannot be read', async () => {
    const warn = jest.fn();
    let reads = 0;
    const readAt = (() => {
      reads += 1;
      return reads === 1 ? Promise.resolve([{ version: 1 }]) : Promise.reject(new Error('no such table'));
    }) as unknown as ReadAt;
    const tail = new EventTail(
      () => readAt,
      () => Promise.resolve(),
      { warn },
    );
    await tail.begin();
    await until(() => reads > 3);
    tail.end();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(tail.isUpToDate).toBe(false);
  });
});
