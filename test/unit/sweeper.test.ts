import { Sweeper } from '../../src/sweeper';

describe('Sweeper', () => {
  it('goes on with the rest when one sweep fails, and says so', async () => {
    const swept: string[] = [];
    const warned: unknown[] = [];
    const failure = new Error('the database is away');
    const sweeper = new Sweeper(
      [() => Promise.reject(failure), () => Promise.resolve(void swept.push('second'))],
      (_message, cause) => warned.push(cause),
    );
    await sweeper.sweep();
    sweeper.close();
    expect({ swept, warned }).toEqual({ swept: ['second'], warned: [failure] });
  });

  it('sweeps now and then until it is closed', async () => {
    jest.useFakeTimers();
    let sweeps = 0;
    const sweeper = new Sweeper([() => Promise.resolve(void (sweeps += 1))], () => undefined, 1_000);
    await jest.advanceTimersByTimeAsync(3_500);
    expect(sweeps).toBe(3);
    sweeper.close();
    await jest.advanceTimersByTimeAsync(3_500);
    expect(sweeps).toBe(3);
    jest.useRealTimers();
  });
});
