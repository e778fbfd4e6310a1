import { EventGatherer } from '../../src/features/events/event-gatherer';
import { until } from '../support/until';

describe('the gathering of events', () => {
  // guard event-gatherer-1: an instance that ends logs no failure of its gathering
  // src/load/rounds.ts
  // - if (this.isOn) this.failed(error);
  // + this.failed(error);
  it.each([
    ['is logged when it fails', false, 1],
    ['is not logged when it fails after its end, as the pool is closed then', true, 0],
  ])('%s', async (_name, isClosed, lines) => {
    const logged: unknown[] = [];
    let hasFailed = false;
    const gatherer = new EventGatherer({
      events: {
        gather: () => {
          if (isClosed) gatherer.close();
          hasFailed = true;
          throw new Error('the pool is closed');
        },
      },
      horizons: { present: () => Promise.resolve(1) },
      isDistributed: () => true,
      logger: { warn: (line: unknown) => void logged.push(line) },
    });
    gatherer.begin();
    await until(() => hasFailed);
    await new Promise(setImmediate);
    gatherer.close();
    expect(logged).toHaveLength(lines);
  });
});
