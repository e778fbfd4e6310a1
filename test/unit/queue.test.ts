import { Unavailable } from '../../src/base/errors';
import { Queue, type Options, type Rules } from '../../src/load/queue';
import { Gate } from '../support/gate';

const HOUR_MS = 3_600_000;
/** Long enough for any busy machine. */
const PATIENT_MS = 60_000;
const [ANN, BOB, CAT] = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];
const SUBNET = (index: number) => `2001:db8:0:${index.toString(16)}::/64`;

const refusal = () => new Unavailable('overloaded', 'too many requests at once: try again shortly');

interface Running {
  done: Promise<void>;
  gate: Gate;
  /** Waits until the job runs, and ends it after this time. */
  endAfter(milliseconds: number): Promise<void>;
}

describe('Queue', () => {
  let now: number;
  let begun: string[];
  let aborted: string[];
  let all: Running[];
  beforeEach(() => {
    now = 0;
    begun = [];
    aborted = [];
    all = [];
  });
  afterEach(async () => {
    for (const { gate } of all) gate.open();
    await Promise.allSettled(all.map(({ done }) => done));
  });

  const queueOf = (rules: Partial<Rules>) => new Queue({ per: 'address', waiting: 100, refusal, ...rules }, () => now);
  const nothing = () => Promise.resolve();

  /** Starts a job that runs until it is ended or aborted. */
  function under(queue: Queue, sender: string, options: Options = {}, name = sender): Running {
    const gate = new Gate();
    const done = queue.run(
      sender,
      () => {
        begun.push(name);
        return gate.wait();
      },
      options,
    );
    done.catch(() => undefined);
    const endAfter = async (milliseconds: number) => {
      await gate.reached;
      now += milliseconds;
      gate.open();
      await done;
    };
    const running = { done, gate, endAfter };
    all.push(running);
    return running;
  }

  /** Checks a refusal that needs no waiting. */
  async function expectRefused(job: Promise<unknown> | undefined): Promise<void> {
    const waits = new Promise((resolve) => setImmediate(resolve, 'waits'));
    await expect(Promise.race([job, waits])).rejects.toBeInstanceOf(Unavailable);
  }

  /** Options of a job that may be aborted. */
  const taking =
    (queue: Queue) =>
    (sender: string, name = sender) =>
      queue.take(sender, { abort: () => aborted.push(name) });

  describe('admits', () => {
    it('a job for which there is room in the same turn of the event loop', () => {
      const queue = queueOf({ share: 1 });
      void queue.run(ANN, () => {
        begun.push(ANN);
        return Promise.resolve();
      });
      expect(begun).toEqual([ANN]);
    });

    // guard queue-7: the number of images that are decoded at once is limited
    // src/load/queue.ts
    // - return !this.isFull() && this.isWithinShares(job);
    // + return this.isWithinShares(job);
    it('no more jobs than it has slots', async () => {
      const queue = queueOf({ atOnce: 2 });
      const [ann, , cat] = [ANN, BOB, CAT].map((sender) => under(queue, sender));
      expect(begun).toEqual([ANN, BOB]);
      await ann?.endAfter(0);
      await cat?.gate.reached;
    });

    // guard queue-6: one image of a user is decoded at a time
    // src/load/queue.ts
    // - return shares.every(({ network, most }) => this.runningOf(network) < most);
    // + return shares.length > 0;
    it('no more jobs of a sender than its share', async () => {
      const queue = queueOf({ atOnce: 4, share: 1 });
      const [first, second] = [under(queue, ANN), under(queue, ANN)];
      under(queue, BOB);
      expect(begun).toEqual([ANN, BOB]);
      await first.endAfter(0);
      await second.gate.reached;
    });

    // guard queue-16: a network of IPv6 has at most twice the upload slots of an address
    // src/base/networks.ts
    // - Math.min(times, MOST_TIMES)
    // + times
    it.each([
      ['/56', SUBNET],
      ['/48', (index: number) => SUBNET(index << 8)],
    ])('no more jobs of a %s of IPv6 than two shares, whatever its addresses', (_network, address) => {
      const take = taking(queueOf({ atOnce: 100, share: 4 }));
      for (let index = 0; index < 8; index += 1) take(address(index));
      expect(() => take(address(8))).toThrow(Unavailable);
      take('2001:db8:1::/64');
      take(ANN);
    });

    it('a job of each sender where they do not share slots, whatever others do', async () => {
      const queue = queueOf({ per: 'user', share: 1, waiting: 1 });
      const [ann, more] = [under(queue, 'ann'), under(queue, 'ann')];
      await expectRefused(queue.run('ann', nothing));
      await under(queue, 'bob').endAfter(0);
      await ann.endAfter(0);
      await more.endAfter(0);
      expect(begun).toEqual(['ann', 'bob', 'ann']);
    });

    it('the next job after one that failed', async () => {
      const queue = queueOf({ share: 1 });
      await expect(queue.run(ANN, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      await expect(queue.run(ANN, () => Promise.resolve('done'))).resolves.toBe('done');
    });
  });

  describe('lets senders take turns', () => {
    // guard queue-4: users take turns in the queue for large answers
    // src/load/queue.ts
    // - this.waiting.delete(sender);
    // - this.waiting.set(sender, jobs);
    it('by one job each, in the order in which they came', async () => {
      const queue = queueOf({ atOnce: 1 });
      const jobs = [ANN, ANN, ANN, BOB, CAT, BOB].map((sender) => under(queue, sender));
      for (const { gate } of jobs) gate.open();
      await Promise.all(jobs.map(({ done }) => done));
      expect(begun).toEqual([ANN, ANN, BOB, CAT, ANN, BOB]);
    });

    it('and a sender who asks for jobs in a row does not wait for one with sixty', async () => {
      const queue = queueOf({ atOnce: 1 });
      const crowd = Array.from({ length: 60 }, () => under(queue, ANN));
      for (let asked = 0; asked < 3; asked += 1) {
        const bob = under(queue, BOB);
        for (let ended = 0; ended < 2; ended += 1) await crowd.shift()?.endAfter(0);
        await bob.endAfter(0);
      }
      expect(begun).toEqual([ANN, ANN, BOB, ANN, ANN, BOB, ANN, ANN, BOB, ANN]);
    });

    it('and passes over a sender who has its share', async () => {
      const queue = queueOf({ atOnce: 2, share: 1 });
      const [ann, bob] = [under(queue, ANN), under(queue, BOB)];
      const [more, cat] = [under(queue, ANN), under(queue, CAT)];
      await bob.endAfter(0);
      await cat.gate.reached;
      expect(begun).toEqual([ANN, BOB, CAT]);
      await ann.endAfter(0);
      await more.gate.reached;
    });

    // guard queue-3: a free slot goes to a sender with no running job
    // src/load/queue.ts
    // - return this.runningOf(sender) === 0 && this.runningOf(other) > 0;
    // + return false;
    it('and puts a sender with no running job first', async () => {
      const queue = queueOf({ atOnce: 2 });
      const [first] = [ANN, ANN, ANN, BOB].map((sender) => under(queue, sender));
      await first?.endAfter(0);
      expect(begun).toEqual([ANN, ANN, BOB]);
    });

    it('and takes a /48 of IPv6 for one sender', async () => {
      const queue = queueOf({ atOnce: 1 });
      const crowd = Array.from({ length: 20 }, (_, index) => under(queue, SUBNET(index)));
      under(queue, ANN);
      await crowd[0]?.endAfter(0);
      await crowd[1]?.endAfter(0);
      expect(begun).toEqual([SUBNET(0), SUBNET(1), ANN]);
    });
  });

  describe('by time that was used', () => {
    const byTime = (rules: Partial<Rules> = {}) =>
      queueOf({ per: 'user', atOnce: 1, share: 1, leastUsedFirst: 10_000, ...rules });

    // guard queue-5: the next image to be decoded belongs to the user who has used least
    // src/load/queue.ts
    // - this.usage.usedBy(sender) < this.usage.usedBy(other);
    // + false;
    it('lets a newcomer wait only for the running job', async () => {
      const queue = byTime();
      const first = ['ann', 'bob', 'cat'].map((user) => under(queue, user));
      for (const one of first) await one.endAfter(10_000);
      const [running] = ['ann', 'bob', 'cat', 'ann', 'bob', 'cat'].map((user) => under(queue, user));
      const newcomer = under(queue, 'newcomer');
      await running?.endAfter(10_000);
      await newcomer.gate.reached;
      expect(begun.slice(3)).toEqual(['ann', 'newcomer']);
    });

    it('runs first the job of the sender who has used least', async () => {
      const queue = byTime();
      const jobs = ['ann', 'ann', 'bob', 'bob', 'cat', 'cat'].map((user) => under(queue, user));
      const [ann, annToo, bob, bobToo, cat, catToo] = jobs;
      for (const [job, milliseconds] of [
        [ann, 300],
        [bob, 200],
        [cat, 100],
        [catToo, 50],
        [bobToo, 0],
        [annToo, 0],
      ] as const)
        await job?.endAfter(milliseconds);
      expect(begun).toEqual(['ann', 'bob', 'cat', 'cat', 'bob', 'ann']);
    });

    // guard queue-8: the time an image has used counts even if its decoding fails
    // src/load/queue.ts
    // - this.usage?.add(job.sender, this.now() - job.begun);
    it('counts a job that failed', async () => {
      const queue = byTime();
      const failing = queue.run('ann', () => {
        now += 10_000;
        return Promise.reject(new Error('no image'));
      });
      await expect(failing).rejects.toThrow('no image');
      const [bob, , cat] = ['bob', 'ann', 'cat'].map((user) => under(queue, user));
      await bob?.endAfter(0);
      await cat?.gate.reached;
      expect(begun).toEqual(['bob', 'cat']);
    });

    // guard queue-9: use of decoding time is forgotten after a while
    // src/load/usage.ts
    // - if (late < 0) return;
    // + if (late < 1e9) return;
    it('forgets what was used two hours ago', async () => {
      const queue = byTime();
      await under(queue, 'ann').endAfter(10_000);
      now += HOUR_MS;
      await under(queue, 'bob').endAfter(1_000);
      const usedByAll = ['dan', 'ann', 'bob'].map((user) => under(queue, user));
      await usedByAll[0]?.endAfter(0);
      await usedByAll[2]?.endAfter(0);
      await usedByAll[1]?.endAfter(0);
      expect(begun.slice(2)).toEqual(['dan', 'bob', 'ann']);
      now += HOUR_MS;
      await under(queue, 'bob').endAfter(0);
      now += HOUR_MS;
      const usedByNobody = ['dan', 'ann', 'bob'].map((user) => under(queue, user));
      for (const job of usedByNobody) job.gate.open();
      await Promise.all(usedByNobody.map(({ done }) => done));
      expect(begun.slice(6)).toEqual(['dan', 'ann', 'bob']);
    });

    describe('when too many wait, refuses', () => {
      // guard queue-10: when too many images wait, the queue drops one of the user with most
      // src/load/queue.ts
      // - else if (this.counts.waiting >= waiting) this.refuseOneFor(sender);
      // + else if (this.counts.waiting >= waiting) throw this.refusal();
      it('the newest job of the sender who has used most', async () => {
        const queue = byTime({ waiting: 3 });
        await under(queue, 'ann').endAfter(10_000);
        const [, ann, newest] = ['bob', 'ann', 'ann', 'cat'].map((user) => under(queue, user));
        under(queue, 'newcomer');
        await expectRefused(newest?.done);
        await expectRefused(queue.run('ann', nothing));
        under(queue, 'dan');
        await expectRefused(ann?.done);
      });

      // guard queue-11: a waiting image counts as what it may use
      // src/load/queue.ts
      // - this.waitingOf(one) * leastUsedFirst;
      // + this.waitingOf(one) * 0;
      it('the newest job of the sender with most waiting, for one who has used little', async () => {
        const queue = byTime({ waiting: 4 });
        await under(queue, 'ann').endAfter(300);
        const jobs = ['bob', 'cat', 'cat', 'cat', 'cat', 'ann'].map((user) => under(queue, user));
        for (const { gate } of jobs) gate.open();
        await expectRefused(jobs[4]?.done);
        await jobs[5]?.done;
      });

      // guard queue-12: the number of waiting images is limited
      // src/load/queue.ts
      // -     if (!newest) throw this.refusal();
      // -     newest.refuse();
      // + newest?.refuse();
      it('a sender who would have as much as any other', async () => {
        const queue = byTime({ waiting: 2 });
        const jobs = ['ann', 'bob', 'cat', 'dan'].map((user) => under(queue, user));
        for (const { gate } of jobs) gate.open();
        await expectRefused(jobs[3]?.done);
      });
    });
  });

  describe('refuses', () => {
    it('the newest job of the sender with most waiting, when too many wait', async () => {
      const queue = queueOf({ atOnce: 1, waiting: 2 });
      const [, , dropped] = [under(queue, ANN), under(queue, ANN), under(queue, ANN)];
      under(queue, BOB);
      await expectRefused(dropped?.done);
      await expectRefused(queue.run(ANN, nothing));
    });

    // guard queue-13: no image waits for its decoding for ever
    // src/load/queue.ts
    // - setTimeout(waiting.refuse, waitMs)
    // + setTimeout(() => {}, waitMs)
    it('a job that has waited for too long, and goes on with the rest', async () => {
      const queue = queueOf({ atOnce: 1, waitMs: 20 });
      const running = under(queue, ANN);
      await expect(under(queue, BOB).done).rejects.toBeInstanceOf(Unavailable);
      const patient = under(queue, CAT, { waitMs: PATIENT_MS });
      await running.endAfter(0);
      await patient.endAfter(0);
      expect(begun).toEqual([ANN, CAT]);
    });

    // guard queue-14: an image does not wait longer than its client
    // src/load/queue.ts
    // - options.gone?.addEventListener('abort', waiting.refuse);
    // guard queue-15: an image whose client has already gone is not decoded
    // src/load/queue.ts
    // - if (options.gone?.aborted) throw this.refusal();
    it('a waiting job whose client has gone', async () => {
      const queue = queueOf({ atOnce: 1, waiting: 1 });
      const running = under(queue, ANN);
      for (let count = 0; count < 2; count += 1) {
        const gone = new AbortController();
        const waiting = under(queue, BOB, { gone: gone.signal });
        gone.abort();
        await expectRefused(waiting.done);
      }
      await running.endAfter(0);
      await expectRefused(queue.run(BOB, nothing, { gone: AbortSignal.abort() }));
    });

    it('all waiting jobs, when the service stops', async () => {
      const queue = queueOf({ atOnce: 1 });
      const [, ...waiting] = [ANN, BOB, BOB, CAT].map((sender) => under(queue, sender));
      queue.refuseAll();
      for (const { done } of waiting) await expectRefused(done);
    });

    it('a job that its check refuses, which takes no slot', () => {
      const queue = queueOf({ share: 1, waiting: 0 });
      for (let count = 0; count < 3; count += 1) queue.check(ANN);
      queue.take(ANN);
      expect(() => queue.check(ANN)).toThrow(Unavailable);
    });
  });

  describe('aborts a running job for a sender with fewer', () => {
    // guard queue-1: the job aborted for others is the oldest of the sender with most running jobs
    // src/load/queue.ts
    // - this.runningOf(job.sender) <= most) continue;
    // + this.runningOf(job.sender) <= 1) continue;
    it('the oldest one of the sender with most, and tells it at once', () => {
      const take = taking(queueOf({ atOnce: 6, aborts: 'oldest' }));
      [BOB, BOB, ANN, ANN, ANN, ANN].forEach((sender, index) => take(sender, `job ${index}`));
      for (const sender of [CAT, '203.0.113.4', '203.0.113.5']) take(sender);
      expect(aborted).toEqual(['job 2', 'job 3', 'job 0']);
    });

    it('the newest one', () => {
      const take = taking(queueOf({ atOnce: 10, share: 4, aborts: 'newest' }));
      const senders = ['ann', 'ann', 'bob', 'bob', 'bob', 'bob', 'ann', 'cat', 'cat', 'dan'];
      senders.forEach((sender, index) => take(sender, `${sender} ${index}`));
      for (let count = 0; count < 2; count += 1) take(ANN);
      expect(aborted).toEqual(['bob 5', 'ann 6']);
      // No sender has more jobs than a third one would make.
      expect(() => take(ANN)).toThrow(Unavailable);
      take('eve');
      expect(aborted).toEqual(['bob 5', 'ann 6', 'bob 4']);
    });

    // guard queue-2: the only job of a sender is not aborted for others
    // src/load/queue.ts
    // - let most = this.runningOf(sender) + 1;
    // + let most = this.runningOf(sender);
    it('and no job where each sender has one', async () => {
      const queue = queueOf({ atOnce: 2, aborts: 'oldest' });
      const [first] = [ANN, BOB].map((sender) => under(queue, sender, { abort: () => aborted.push(sender) }));
      const cat = under(queue, CAT);
      expect(aborted).toEqual([]);
      await first?.endAfter(0);
      await cat.gate.reached;
    });

    // guard queue-17: the addresses of an IPv6 /48 count as one sender when slots are taken away
    // src/load/queue.ts
    // - sender: senderOf(sender)
    // + sender
    it('and counts a /48 of IPv6 as one sender', () => {
      const take = taking(queueOf({ atOnce: 8, share: 4, aborts: 'newest' }));
      for (let index = 0; index < 5; index += 1) take(SUBNET(index));
      for (let count = 0; count < 3; count += 1) take(ANN);
      take(BOB);
      expect(aborted).toEqual([SUBNET(4)]);
    });

    it('and no job that cannot be aborted, or for a sender beyond its share', () => {
      const queue = queueOf({ atOnce: 6, share: 4, aborts: 'newest' });
      const take = taking(queue);
      for (let count = 0; count < 4; count += 1) queue.take('ann');
      for (let count = 0; count < 2; count += 1) take('bob');
      take(ANN);
      expect(aborted).toEqual(['bob']);
      for (const sender of [BOB, 'ann']) expect(() => take(sender)).toThrow(Unavailable);
    });

    it('and frees the slot of the aborted job once', () => {
      const take = taking(queueOf({ atOnce: 3, share: 3, aborts: 'newest' }));
      const leaves = [take(ANN), take(ANN), take(ANN)];
      take(BOB);
      for (const leave of [leaves[2], leaves[2]]) leave?.();
      expect(() => [take('cat'), take('dan')]).toThrow(Unavailable);
      expect(aborted).toEqual([ANN, ANN]);
    });
  });

  it('reports how many jobs run and wait, and how many it has refused', async () => {
    const queue = queueOf({ atOnce: 1, waiting: 1 });
    const [running, waiting] = [under(queue, ANN), under(queue, BOB)];
    await expectRefused(queue.run(CAT, nothing));
    expect(queue.state).toEqual({ running: 1, waiting: 1, refused: 1 });
    await running.endAfter(0);
    await waiting.endAfter(0);
    expect(queue.state).toEqual({ running: 0, waiting: 0, refused: 1 });
  });

  it.each([{ atOnce: 3 }, { atOnce: 3, share: 2, aborts: 'oldest' as const }, { share: 2, waiting: 10 }])(
    'keeps nothing about senders without a job: %o',
    async (rules) => {
      const queue = queueOf(rules);
      const jobs = Array.from({ length: 50 }, (_, index) => under(queue, index % 2 ? SUBNET(index) : ANN));
      for (const { gate } of jobs) gate.open();
      await Promise.allSettled(jobs.map(({ done }) => done));
      for (const field of ['running', 'waiting', 'abortable'] as const) {
        const kept = Reflect.get(queue, field) as { size?: number; length?: number };
        expect([field, kept.size ?? kept.length]).toEqual([field, 0]);
      }
    },
  );
});
