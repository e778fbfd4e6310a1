import { Unavailable } from '../../src/errors';
import { AddressQueue, type QueueSizes } from '../../src/http/address-queue';
import { Gate } from '../support/gate';

/** However busy the machine is. */
const PATIENT_MS = 60_000;
const [ANN, BOB, CAT] = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];

describe('AddressQueue', () => {
  let begun: string[];
  beforeEach(() => (begun = []));

  const queueOf = (sizes: Partial<QueueSizes>) =>
    new AddressQueue({ atOnce: 1, mostWaiting: 100, waitMs: PATIENT_MS, ...sizes });

  /** A job that goes on until its gate is opened. */
  function under(queue: AddressQueue, address: string) {
    const gate = new Gate();
    const done = queue.run(address, () => {
      begun.push(address);
      return gate.wait();
    });
    done.catch(() => undefined);
    return { gate, done };
  }

  it('gives addresses turns', async () => {
    const queue = queueOf({});
    const jobs = [ANN, ANN, ANN, BOB, CAT, BOB].map((address) => under(queue, address));
    for (const { gate } of jobs) gate.open();
    await Promise.all(jobs.map(({ done }) => done));
    expect(begun).toEqual([ANN, ANN, BOB, CAT, ANN, BOB]);
  });

  it('leaves places free that are beyond the share of an address, for others', async () => {
    const queue = queueOf({ atOnce: 4, share: 1 });
    const [first, second] = [under(queue, ANN), under(queue, ANN)];
    const other = under(queue, BOB);
    await Promise.all([first.gate.reached, other.gate.reached]);
    expect(begun).toEqual([ANN, BOB]);
    first.gate.open();
    await second.gate.reached;
    expect(begun).toEqual([ANN, BOB, ANN]);
  });

  it('passes over whoever has taken its share, and comes back to it', async () => {
    const queue = queueOf({ atOnce: 2, share: 1 });
    const [ann, bob] = [under(queue, ANN), under(queue, BOB)];
    const [more, cat] = [under(queue, ANN), under(queue, CAT)];
    bob.gate.open();
    await cat.gate.reached;
    expect(begun).toEqual([ANN, BOB, CAT]);
    ann.gate.open();
    await more.gate.reached;
  });

  it('gives a /48 of IPv6 twice the share of an address', async () => {
    const queue = queueOf({ atOnce: 20, share: 1 });
    const jobs = [1, 2, 3, 4].map((subnet) => under(queue, `2001:db8:0:${subnet}::/64`));
    await jobs[1]?.gate.reached;
    const other = under(queue, BOB);
    await other.gate.reached;
    expect(begun).toEqual(['2001:db8:0:1::/64', '2001:db8:0:2::/64', BOB]);
  });

  describe('with newcomers first', () => {
    let calledOff: string[];
    beforeEach(() => (calledOff = []));

    const newcomersFirst = (atOnce: number) => queueOf({ atOnce, share: atOnce, newcomersFirst: true });

    /** A job that goes on until its gate is opened or it is called off. */
    function jobOf(queue: AddressQueue, address: string, name = address) {
      const gate = new Gate();
      const done = queue.run(address, async ({ signal }) => {
        begun.push(name);
        signal.addEventListener('abort', () => {
          calledOff.push(name);
          gate.open();
        });
        await gate.wait();
      });
      return { gate, done };
    }

    async function finish(...jobs: { gate: Gate; done: Promise<void> }[]): Promise<void> {
      for (const { gate } of jobs) gate.open();
      await Promise.all(jobs.map(({ done }) => done));
    }

    it('calls the oldest job of whoever has most running off, for an address that has none', async () => {
      const queue = newcomersFirst(6);
      const jobs = [BOB, BOB, ANN, ANN, ANN, ANN].map((address, index) => jobOf(queue, address, `job ${index}`));
      for (const address of [CAT, '203.0.113.4', '203.0.113.5']) jobs.push(jobOf(queue, address));
      expect(calledOff).toEqual(['job 2', 'job 3', 'job 0']);
      expect(begun.slice(6)).toEqual([CAT, '203.0.113.4', '203.0.113.5']);
      await finish(...jobs);
    });

    it('calls nothing off where everybody has one running, or for whoever has', async () => {
      const queue = newcomersFirst(3);
      const jobs = [ANN, BOB, BOB, ANN].map((address) => jobOf(queue, address));
      expect(calledOff).toEqual([]);
      jobs.push(jobOf(queue, CAT), jobOf(queue, '203.0.113.4'));
      expect([begun, calledOff]).toEqual([[ANN, BOB, BOB, CAT], [BOB]]);
      await finish(...jobs);
    });

    it('gives a place that becomes free to whoever has nothing running', async () => {
      const queue = newcomersFirst(2);
      const jobs = [ANN, ANN, ANN].map((address) => jobOf(queue, address));
      const [bob, more] = [jobOf(queue, BOB), jobOf(queue, BOB, 'more of Bob')];
      await finish(bob);
      await more.gate.reached;
      expect(begun).toEqual([ANN, ANN, BOB, 'more of Bob']);
      await finish(...jobs, more);
    });
  });

  it('makes room when it is full, at the cost of whoever has most waiting', async () => {
    const queue = queueOf({ mostWaiting: 2 });
    const [running, waiting, dropped] = [under(queue, ANN), under(queue, ANN), under(queue, ANN)];
    const bob = under(queue, BOB);
    await expect(dropped.done).rejects.toBeInstanceOf(Unavailable);
    await expect(queue.run(ANN, () => Promise.resolve())).rejects.toBeInstanceOf(Unavailable);
    for (const { gate } of [running, waiting, bob]) gate.open();
    await Promise.all([running.done, waiting.done, bob.done]);
  });

  it('refuses what has waited for too long, and goes on with the rest', async () => {
    const queue = queueOf({ waitMs: 20 });
    const running = under(queue, ANN);
    await expect(under(queue, BOB).done).rejects.toBeInstanceOf(Unavailable);
    running.gate.open();
    await running.done;
    await expect(queue.run(BOB, () => Promise.resolve('done'))).resolves.toBe('done');
  });

  it('is left by a job that fails', async () => {
    const queue = queueOf({ share: 1 });
    await expect(queue.run(ANN, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(queue.run(ANN, () => Promise.resolve('done'))).resolves.toBe('done');
  });
});
