import { readFile } from 'node:fs/promises';
import { afterTime, withTimeout } from '../../src/load/timeout';
import { standStill } from '../support/stand-still';
import { until } from '../support/until';

describe('withTimeout', () => {
  const never = () => new Promise<never>(() => {});

  it('returns what is done in time', async () => {
    await expect(withTimeout(Promise.resolve('done'), 20)).resolves.toBe('done');
    await expect(withTimeout(Promise.reject(new Error('no')), 20)).rejects.toThrow('no');
  });

  it('rejects as an outage when the time has passed, not earlier', async () => {
    const begun = performance.now();
    await expect(withTimeout(never(), 100)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - begun).toBeGreaterThan(95);
  });

  // guard timeout-1: a process that stands still does not consider others down
  // src/load/timeout.ts
  // - const STEPS = 4;
  // + const STEPS = 1;
  it('returns a result that arrived while this process stood still', async () => {
    const reading = withTimeout(readFile(__filename, 'utf8'), 100);
    standStill(1_000);
    await expect(reading).resolves.toContain('stood still');
  });

  it('rejects if nothing arrived while this process stood still', async () => {
    const waiting = withTimeout(never(), 100);
    standStill(1_000);
    await expect(waiting).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('ends even for a process that stands still repeatedly', async () => {
    let ended = false;
    afterTime(40, () => (ended = true));
    await until(() => {
      standStill(250);
      return ended;
    });
  });
});
