import { ConnectionWatch } from '../../src/database/connection-watch';
import { Unreachable } from '../../src/database/outage';

const NOTHING = { away: () => undefined, back: () => undefined };
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

let watch: ConnectionWatch;
let attempts: number;

/** Fails as long as the database refuses connections. */
let connect: () => Promise<string>;

beforeEach(() => {
  jest.useFakeTimers();
  attempts = 0;
  connect = () => {
    attempts += 1;
    watch.failed(refused);
    return Promise.reject(refused);
  };
  watch = new ConnectionWatch(NOTHING);
});
afterEach(() => {
  watch.close();
  jest.useRealTimers();
});

const reach = () => watch.reach(() => connect()).catch((error: unknown) => error);

/** Returns what the requests have been told so far, without waiting for the others. */
async function toldTo(requests: Promise<unknown>[], afterMs = 0): Promise<unknown[]> {
  const told: unknown[] = [];
  for (const request of requests) void request.then((answer) => told.push(answer));
  await jest.advanceTimersByTimeAsync(afterMs);
  return told;
}

/** Ends the outage, as the first connection does. */
function end(): void {
  connect = () => Promise.resolve('connected');
  watch.add({ readyForQuery: true, silence: () => 0, cut: () => undefined, once: () => undefined });
}

describe('an outage', () => {
  it('keeps a request waiting, which tries every 100 ms, and all go on with the first connection', async () => {
    const requests = Array.from({ length: 5 }, reach);
    await jest.advanceTimersByTimeAsync(1_000);
    // Each tried once, and then one of them at a time.
    expect(attempts).toBe(5 + 10);
    end();
    expect(await Promise.all(requests)).toEqual(Array(5).fill('connected'));
  });

  // guard connection-watch-1: an outage that lasts is told to requests at once
  // src/database/connection-watch.ts
  // - if (this.isClosed || this.awaySince === undefined || !this.isPatient(this.awaySince)) return false;
  // + if (this.awaySince === undefined) return false;
  it('is told to all that wait after five seconds, and from then on to each request at once', async () => {
    const refusal = { name: 'Unreachable', code: '08001', message: refused.message };
    expect(await toldTo([reach(), reach()], 5_100)).toMatchObject([refusal, refusal]);
    attempts = 0;
    expect(await toldTo([reach()])).toMatchObject([refusal]);
    expect(attempts).toBe(1);
  });

  // guard connection-watch-2: a bounded number of requests waits for the end of an outage
  // src/database/connection-watch.ts
  // - if (this.waiting.length >= MOST_WAITING) return false;
  it('keeps a thousand requests waiting, and refuses the next', async () => {
    const requests = Array.from({ length: 1_000 }, reach);
    await jest.advanceTimersByTimeAsync(0);
    expect(await toldTo([reach()])).toEqual([expect.any(Unreachable)]);
    end();
    expect(await Promise.all(requests)).toEqual(Array(1_000).fill('connected'));
  });

  it('keeps nobody waiting if it is that of a standby, since the primary answers', async () => {
    watch.close();
    watch = new ConnectionWatch(NOTHING, 1, 0);
    expect(await reach()).toBeInstanceOf(Unreachable);
    expect(attempts).toBe(1);
  });

  it('is over for a request whose attempt ends after the service has stopped', async () => {
    let fail: (error: Error) => void = () => undefined;
    connect = () => {
      watch.failed(refused);
      return new Promise((_resolve, reject) => (fail = reject));
    };
    const request = reach();
    watch.close();
    fail(refused);
    expect(await request).toBeInstanceOf(Unreachable);
  });

  it('is over for requests that wait when the service stops', async () => {
    const request = reach();
    await jest.advanceTimersByTimeAsync(100);
    watch.close();
    expect(await request).toBeInstanceOf(Unreachable);
  });
});

describe('a failure that is not an outage', () => {
  it.each([
    ['a wrong password', Object.assign(new Error('no'), { code: '28P01' })],
    ['a pool whose connections are all busy', new Error('timeout exceeded when trying to connect')],
  ])('such as %s is told at once', async (_name, error) => {
    connect = () => {
      attempts += 1;
      return Promise.reject(error);
    };
    expect(await reach()).toMatchObject({ message: error.message });
    expect(attempts).toBe(1);
  });
});
