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
      horizons: { present: () => Promise.resolve(1), firstUngathered: () => Promise.resolve(1) },
      logger: { warn: (line: unknown) => void logged.push(line) },
    });
    gatherer.begin();
    await until(() => hasFailed);
    await new Promise(setImmediate);
    gatherer.close();
    expect(logged).toHaveLength(lines);
  });

  // guard event-gatherer-2: an idle instance does not have the parts of all servers asked for events
  // src/features/events/event-gatherer.ts
  // - if (first === undefined) return false;
  // guard event-gatherer-3: nothing is gathered before the first event can be
  // src/features/events/event-gatherer.ts
  // - if (first <= horizon) await
  // + await
  it('asks for a horizon when a server has events, and gathers when it has reached the first of them', async () => {
    const firsts = [undefined, 5, 5, undefined];
    const horizons = [4, 5, 6, 7];
    const gathered: number[] = [];
    const gatherer = new EventGatherer({
      events: { gather: (horizon) => Promise.resolve(void gathered.push(horizon)) },
      horizons: {
        firstUngathered: () => Promise.resolve(firsts.shift()),
        present: () => Promise.resolve(horizons.shift() ?? NaN),
      },
      logger: { warn: () => undefined },
    });
    gatherer.begin();
    await until(() => firsts.length === 0);
    gatherer.close();
    expect({ gathered, horizons }).toEqual({ gathered: [5], horizons: [6, 7] });
  });
});
