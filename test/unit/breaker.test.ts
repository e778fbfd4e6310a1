import { Breaker, BreakerOpen, CallAborted } from '../../src/load/breaker';

class TimedOut extends Error {}

let now: number;
let breaker: Breaker;
let calls: number;
beforeEach(() => {
  now = 0;
  calls = 0;
  breaker = new Breaker(
    'the peer',
    (error) => error instanceof TimedOut,
    () => now,
  );
});

const answers = () => breaker.run(async () => (calls += 1));
const failsWith = (error: Error) =>
  breaker.run(async () => {
    calls += 1;
    throw error;
  });
async function timeOut(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1)
    await expect(failsWith(new TimedOut())).rejects.toBeInstanceOf(TimedOut);
}

describe('a breaker', () => {
  it('refuses at once after three time-outs in a row, and says for how long', async () => {
    await timeOut(3);
    now = 1_000;
    await expect(answers()).rejects.toMatchObject({ name: 'BreakerOpen', retryAfterSeconds: 29 });
    expect(calls).toBe(3);
  });

  it('lets one call through after half a minute, and all calls once that one was answered', async () => {
    await timeOut(3);
    now = 30_000;
    const trying = breaker.run(() => new Promise<string>((resolve) => setTimeout(() => resolve('well'), 20)));
    await expect(answers()).rejects.toBeInstanceOf(BreakerOpen);
    await expect(trying).resolves.toBe('well');
    await expect(answers()).resolves.toBe(4);
  });

  it('refuses again when that one call times out', async () => {
    await timeOut(3);
    now = 30_000;
    await timeOut(1);
    now = 59_000;
    await expect(answers()).rejects.toBeInstanceOf(BreakerOpen);
    now = 60_000;
    await expect(answers()).resolves.toBe(5);
  });

  // guard breaker-1: an aborted call tells a breaker nothing
  // src/load/breaker.ts
  // - if (error instanceof CallAborted) throw error;
  it('learns nothing from an aborted call', async () => {
    const callOff = () => expect(failsWith(new CallAborted('the peer'))).rejects.toBeInstanceOf(CallAborted);
    await timeOut(2);
    await callOff();
    await timeOut(1);
    await expect(answers()).rejects.toBeInstanceOf(BreakerOpen);
    now = 30_000;
    await expect(answers()).resolves.toBe(5);
    for (let count = 0; count < 3; count += 1) await callOff();
    await expect(answers()).resolves.toBe(9);
  });

  it('takes any answer as a sign of life, even a refusal', async () => {
    await timeOut(2);
    await expect(failsWith(new Error('refused'))).rejects.toThrow('refused');
    await timeOut(2);
    await expect(answers()).resolves.toBe(6);
  });
});
