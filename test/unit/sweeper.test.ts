import { Sweeper } from '../../src/load/sweeper';

describe('Sweeper', () => {
  it('continues with the rest when one sweep fails, and logs it', async () => {
    const swept: string[] = [];
    const warn = jest.fn();
    const failure = new Error('the database is away');
    const sweeper = new Sweeper(
      [
        { name: 'first', run: () => Promise.reject(failure) },
        { name: 'second', run: () => Promise.resolve(void swept.push('second')) },
      ],
      { warn },
    );
    await sweeper.sweep();
    sweeper.close();
    expect(swept).toEqual(['second']);
    expect(sweeper.rounds.entries()).toEqual([
      ['first done', 0],
      ['first failed', 1],
      ['second done', 1],
      ['second failed', 0],
    ]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith({ err: failure }, expect.any(String));
  });

  it('sweeps at intervals until it is closed', async () => {
    jest.useFakeTimers();
    let sweeps = 0;
    const sweeper = new Sweeper([{ name: 'only', everyMs: 1_000, run: () => Promise.resolve(void (sweeps += 1)) }], {
      warn: () => undefined,
    });
    await jest.advanceTimersByTimeAsync(3_500);
    expect(sweeps).toBe(3);
    sweeper.close();
    await jest.advanceTimersByTimeAsync(3_500);
    expect(sweeps).toBe(3);
    jest.useRealTimers();
  });

  // guard sweeper-1: a sweep does not begin by itself while one is running
  // src/load/sweeper.ts
  // - running ??= this.sweep(due)
  // + running = this.sweep(due)
  it('does not begin while it is running, and does not wait for another one', async () => {
    jest.useFakeTimers();
    const run = jest.fn(() => new Promise<void>((done) => setTimeout(done, 1_500)));
    const other = jest.fn(() => Promise.resolve());
    const sweeps = [
      { name: 'slow', everyMs: 1_000, run },
      { name: 'other', everyMs: 1_000, run: other },
    ];
    const sweeper = new Sweeper(sweeps, { warn: () => undefined });
    await jest.advanceTimersByTimeAsync(3_500);
    sweeper.close();
    expect([run, other].map(({ mock }) => mock.calls.length)).toEqual([2, 3]);
    jest.useRealTimers();
  });
});
