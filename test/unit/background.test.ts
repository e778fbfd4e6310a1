import { Attempt, checkDeadline } from '../../src/load/attempt';
import { Background } from '../../src/load/background';
import { Queue } from '../../src/load/queue';
import { QUEUES } from '../../src/load/queues';
import { until } from '../support/until';

const logger = { warn: jest.fn() };
const warnings = () => logger.warn.mock.calls as [fields: unknown, message: string][];
const messages = () => warnings().map(([, message]) => message);
beforeEach(() => logger.warn.mockClear());

const MANY = 1_000;

const queueOf = (atOnce: number, waiting: number) => new Queue({ ...QUEUES.notices, atOnce, waiting });

function never(): Promise<void> {
  return new Promise(() => undefined);
}

describe('Background: work done after the answer', () => {
  // guard background-1: work after an answer begins after the answer
  // src/load/background.ts
  // - await begun;
  it('begins after a moment, and never while its caller runs', async () => {
    const background = new Background(logger, queueOf(1, MANY));
    const done: string[] = [];
    background.run(async () => void done.push('work'), 'undone');
    await Promise.resolve();
    done.push('answer');
    await until(() => done.length === 2);
    expect(done).toEqual(['answer', 'work']);
  });

  // guard background-3: work after an answer is not refused where its request is late
  // src/load/background.ts
  // - forAll(() => this.attempt(begun, work, undone))
  // + this.attempt(begun, work, undone)
  it('is done where its request is late and goes on', async () => {
    const background = new Background(logger, queueOf(1, MANY));
    const attempt = new Attempt();
    await attempt.run(async () => {
      background.run(async () => checkDeadline(), 'undone');
      attempt.giveUp();
      await background.finish(5_000);
    });
    expect(messages()).toEqual([]);
  });

  it('is done in order, with a limit on concurrent jobs', async () => {
    const background = new Background(logger, queueOf(2, MANY));
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    for (let index = 0; index < 6; index += 1)
      background.run(async () => {
        begun.push(index);
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      }, 'undone');
    await background.finish(5_000);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  it('logs each failure, and rejects no promise', async () => {
    const background = new Background(logger, queueOf(1, MANY));
    const error = new Error('away');
    background.run(() => Promise.reject(error), 'the first is missing');
    background.run(() => {
      throw error;
    }, 'the second is missing');
    await background.finish(5_000);
    expect(warnings()).toEqual([
      [{ err: error }, 'the first is missing'],
      [{ err: error }, 'the second is missing'],
    ]);
  });

  // guard background-2: the queue of work after answers is bounded
  // src/load/background.ts
  // - if (this.undone >= this.queue.rules.waiting) {
  // + if (this.undone >= this.queue.rules.waiting && false) {
  it('is refused when the queue is full, and the log says what was not done', async () => {
    const background = new Background(logger, queueOf(1, 3));
    let done = 0;
    let release: () => void = () => undefined;
    const stalled = new Promise<void>((resolve) => (release = resolve));
    for (let count = 0; count < 5; count += 1)
      background.run(() => stalled.then(() => void (done += 1)), 'an event is missing');
    expect(messages()).toEqual(Array(2).fill('the queue of work after answers is full: an event is missing'));
    release();
    await background.finish(5_000);
    expect(done).toBe(3);
  });

  it('is done before the end, including what still waits', async () => {
    const background = new Background(logger, queueOf(1, MANY));
    let done = 0;
    for (let count = 0; count < 100; count += 1) background.run(async () => void (done += 1), 'undone');
    await background.finish(5_000);
    expect(done).toBe(100);
  });

  it('does not keep the process from ending, and the log says how much was left', async () => {
    const background = new Background(logger, queueOf(1, MANY));
    background.run(never, 'undone');
    background.run(never, 'undone');
    await background.finish(10);
    expect(warnings()).toMatchObject([[{ count: 2 }, 'work after answers was not done before the stop']]);
  });
});
