import { loggingFailures } from '../../src/database/failures';

const withCode = (code: string) => Object.assign(new Error('it failed'), { code });

describe('failures of work in rounds', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  // guard failures-1: failures that follow each other are logged once
  // src/database/failures.ts
  // - if (now - failedAt > SERIES_MS)
  it('are logged once while they follow each other within a minute, and again after one without any', () => {
    const warn = jest.fn();
    const failed = loggingFailures({ warn }, 'it was not done');
    const [first, later] = [new Error('first'), new Error('later')];
    failed(first);
    for (let seconds = 0; seconds < 120; seconds += 1) {
      jest.advanceTimersByTime(1_000);
      failed(new Error('again'));
    }
    expect(warn.mock.calls).toEqual([[{ err: first }, 'it was not done']]);
    jest.advanceTimersByTime(61_000);
    failed(later);
    expect(warn.mock.calls.slice(1)).toEqual([[{ err: later }, 'it was not done']]);
  });

  // guard failures-2: lost connections are not logged by each who works in rounds
  // src/database/failures.ts
  // - if (isLostConnection(error)) return;
  it.each([
    ['a statement that took too long', withCode('57014'), 1],
    ['a full disk', withCode('53100'), 1],
    ['a missing table', withCode('42P01'), 1],
    ['a fault of the code', new TypeError('it failed'), 1],
    ['no connection', withCode('ECONNREFUSED'), 0],
    ['a database that is shut down', withCode('57P01'), 0],
    ['a connection that broke', new Error('Connection terminated unexpectedly'), 0],
  ])('are logged unless the watch of connections tells of them: %s', (_, failure, lines) => {
    const warn = jest.fn();
    const failed = loggingFailures({ warn }, 'it was not done');
    failed(failure);
    expect(warn).toHaveBeenCalledTimes(lines);
  });

  it('are logged after lost connections, which begin no series', () => {
    const warn = jest.fn();
    const failed = loggingFailures({ warn }, 'it was not done');
    failed(withCode('ECONNREFUSED'));
    failed(withCode('57014'));
    expect(warn).toHaveBeenCalledTimes(1);
  });
});
