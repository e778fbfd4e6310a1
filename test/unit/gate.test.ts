import { Gate } from '../../src/features/auth/gate';

class Refused extends Error {}

const gateOf = (places: number, mostMs = 60_000) => new Gate(places, mostMs, () => new Refused());

/** A job that ends when it is told to, and what has happened to it. */
function job(gate: Gate) {
  const state = { begun: false, refused: false, end: () => undefined as void };
  const ended = new Promise<void>((resolve) => (state.end = resolve));
  const done = gate
    .run(async () => {
      state.begun = true;
      await ended;
    })
    .catch(() => void (state.refused = true));
  return Object.assign(state, { done });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('Gate', () => {
  it('lets so many in, and wakes one for each that ends, in order', async () => {
    const gate = gateOf(2);
    const jobs = [job(gate), job(gate), job(gate), job(gate)];
    await turn();
    expect(jobs.map(({ begun }) => begun)).toEqual([true, true, false, false]);
    jobs[1]?.end();
    await turn();
    expect(jobs.map(({ begun }) => begun)).toEqual([true, true, true, false]);
    for (const one of jobs) one.end();
    await Promise.all(jobs.map(({ done }) => done));
    expect(jobs.map(({ begun }) => begun)).toEqual([true, true, true, true]);
    expect(gate.isEmpty).toBe(true);
  });

  it('lets as many wait as there are places, and refuses the others at once', async () => {
    const gate = gateOf(2);
    const jobs = Array.from({ length: 6 }, () => job(gate));
    await turn();
    expect(jobs.map(({ refused }) => refused)).toEqual([false, false, false, false, true, true]);
    for (const one of jobs) one.end();
    await Promise.all(jobs.map(({ done }) => done));
  });

  it('refuses a job that has waited for too long, and still serves those behind it', async () => {
    const gate = gateOf(1, 20);
    const first = job(gate);
    const late = job(gate);
    await late.done;
    expect(late).toMatchObject({ begun: false, refused: true });
    const next = job(gate);
    first.end();
    await turn();
    expect(next.begun).toBe(true);
    next.end();
    await next.done;
  });

  it('lets a job inside wait for the end of another, before those outside', async () => {
    const gate = gateOf(2);
    const other = job(gate);
    const outside: string[] = [];
    const waited = gate.run(async () => {
      void gate.run(async () => void outside.push('begun'));
      const answer = await gate.waitForAnother();
      return [answer, [...outside]];
    });
    await turn();
    other.end();
    expect(await waited).toEqual([true, []]);
    await turn();
    expect(outside).toEqual(['begun']);
    expect(await gate.run(() => gate.waitForAnother())).toBe(false);
    expect(gate.isEmpty).toBe(true);
  });
});
