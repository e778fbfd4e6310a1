import { ConnectionWatch } from '../../../src/database/connection-watch';
import { DatabaseProbe } from '../../../src/database/probe';
import { stage } from '../../support/stage';
import { standStill } from '../../support/stand-still';

describe('the probe of the database', () => {
  let watch: ConnectionWatch;
  let probe: DatabaseProbe;
  const told: string[] = [];

  afterAll(async () => {
    await probe.close();
    watch.close();
  });
  const { app } = stage();
  beforeAll(() => {
    watch = new ConnectionWatch({ away: () => told.push('away'), back: () => told.push('back') });
    probe = new DatabaseProbe(app.databaseUrl, watch);
  });

  // guard probe-1: a process that stood still does not take the database for down
  // src/load/timeout.ts
  // - const STEPS = 4;
  // + const STEPS = 1;
  it('does not take it for down because this process stood still', async () => {
    expect(await probe.state()).toBe('ready');
    const asked = probe.state();
    // The query is sent, and its answer is not read yet.
    for (let steps = 0; steps < 10; steps += 1) await Promise.resolve();
    standStill(3_000);
    expect(await asked).toBe('ready');
    expect(told).toEqual([]);
  });
});
