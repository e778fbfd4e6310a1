import { Unavailable } from '../../src/errors';
import { DecodingTurns } from '../../src/integrations/storage/decoding-turns';
import { Gate } from '../support/gate';

const HOUR_MS = 3_600_000;
/** However busy the machine is. */
const PATIENT_MS = 60_000;

describe('decoding', () => {
  let now: number;
  let begun: string[];
  let all: { done: Promise<void>; gate: Gate }[];
  beforeEach(() => {
    now = 0;
    begun = [];
    all = [];
  });
  afterEach(async () => {
    for (const { gate } of all) gate.open();
    await Promise.allSettled(all.map(({ done }) => done));
  });

  const turnsOf = ({ atOnce = 1, mostWaiting = 50, waitMs = PATIENT_MS } = {}) =>
    new DecodingTurns({ atOnce, mostWaiting, waitMs, mostMs: 10_000 }, () => now);

  /** An image that is decoded until somebody ends it. */
  function under(turns: DecodingTurns, userId: string, gone?: AbortSignal) {
    const gate = new Gate();
    const done = turns.run(
      userId,
      () => {
        begun.push(userId);
        return gate.wait();
      },
      gone,
    );
    done.catch(() => undefined);
    all.push({ done, gate });
    const endAfter = async (milliseconds: number) => {
      await gate.reached;
      now += milliseconds;
      gate.open();
      await done;
    };
    return { done, gate, endAfter };
  }

  it('of a newcomer waits for the image that is under way, and for none of those who have used much', async () => {
    const turns = turnsOf();
    const first = ['ann', 'bob', 'cat'].map((user) => under(turns, user));
    for (const one of first) await one.endAfter(10_000);
    const [running] = ['ann', 'bob', 'cat', 'ann', 'bob', 'cat'].map((user) => under(turns, user));
    const newcomer = under(turns, 'newcomer');
    await running?.endAfter(10_000);
    await newcomer.gate.reached;
    expect(begun.slice(3)).toEqual(['ann', 'newcomer']);
  });

  it('comes to whoever has used least of it, and among equals to whoever has waited longest', async () => {
    const turns = turnsOf();
    const images = ['ann', 'ann', 'bob', 'bob', 'cat', 'cat'].map((user) => under(turns, user));
    const [ann, annToo, bob, bobToo, cat, catToo] = images;
    for (const [image, milliseconds] of [
      [ann, 300],
      [bob, 200],
      [cat, 100],
      [catToo, 50],
      [bobToo, 0],
      [annToo, 0],
    ] as const)
      await image?.endAfter(milliseconds);
    expect(begun).toEqual(['ann', 'bob', 'cat', 'cat', 'bob', 'ann']);
  });

  it('that has failed is used too', async () => {
    const turns = turnsOf();
    const failing = turns.run('ann', () => {
      now += 10_000;
      return Promise.reject(new Error('no image'));
    });
    await expect(failing).rejects.toThrow('no image');
    const [bob, , cat] = ['bob', 'ann', 'cat'].map((user) => under(turns, user));
    await bob?.endAfter(0);
    await cat?.gate.reached;
    expect(begun).toEqual(['bob', 'cat']);
  });

  it('that was used two hours ago is forgotten', async () => {
    const turns = turnsOf();
    await under(turns, 'ann').endAfter(10_000);
    now += HOUR_MS;
    await under(turns, 'bob').endAfter(1_000);
    const usedByAll = ['dan', 'ann', 'bob'].map((user) => under(turns, user));
    for (const index of [0, 2, 1]) await usedByAll[index]?.endAfter(0);
    expect(begun.slice(2)).toEqual(['dan', 'bob', 'ann']);
    now += HOUR_MS;
    const [dan, ann] = ['dan', 'ann', 'bob'].map((user) => under(turns, user));
    await dan?.endAfter(0);
    await ann?.gate.reached;
    expect(begun.slice(5)).toEqual(['dan', 'ann']);
  });

  it('is of one image of a user at a time', async () => {
    const turns = turnsOf({ atOnce: 2 });
    const [ann, more] = [under(turns, 'ann'), under(turns, 'ann')];
    await under(turns, 'bob').endAfter(1);
    expect(begun).toEqual(['ann', 'bob']);
    await ann.endAfter(1);
    await more.gate.reached;
  });

  it('is of so many images at once', async () => {
    const turns = turnsOf({ atOnce: 2 });
    const [ann] = ['ann', 'bob', 'cat'].map((user) => under(turns, user));
    await ann?.gate.reached;
    expect(begun).toEqual(['ann', 'bob']);
  });

  it('is waited for no longer than is set, and others go on', async () => {
    const turns = turnsOf({ waitMs: 20, mostWaiting: 1 });
    const running = under(turns, 'ann');
    for (let count = 0; count < 2; count += 1)
      await expect(under(turns, 'bob').done).rejects.toMatchObject({ status: 503, retryAfterSeconds: 10 });
    await running.endAfter(0);
    await under(turns, 'cat').endAfter(0);
    expect(begun).toEqual(['ann', 'cat']);
  });

  it('is not waited for by an upload whose client has gone', async () => {
    const turns = turnsOf({ mostWaiting: 1 });
    const running = under(turns, 'ann');
    for (let count = 0; count < 2; count += 1) {
      const gone = new AbortController();
      const waiting = under(turns, 'bob', gone.signal);
      gone.abort();
      await expect(waiting.done).rejects.toBeInstanceOf(Unavailable);
    }
    await running.endAfter(0);
    await expect(under(turns, 'bob', AbortSignal.abort()).done).rejects.toBeInstanceOf(Unavailable);
    expect(begun).toEqual(['ann']);
  });

  describe('for which too many wait', () => {
    it('is given up by whoever has used most, the newest image first', async () => {
      const turns = turnsOf({ mostWaiting: 3 });
      await under(turns, 'ann').endAfter(10_000);
      const [, ann, newest] = ['bob', 'ann', 'ann', 'cat'].map((user) => under(turns, user));
      under(turns, 'newcomer');
      await expect(newest?.done).rejects.toBeInstanceOf(Unavailable);
      await expect(turns.run('ann', () => Promise.resolve())).rejects.toBeInstanceOf(Unavailable);
      under(turns, 'dan');
      await expect(ann?.done).rejects.toBeInstanceOf(Unavailable);
    });

    it('is given up by whoever has most waiting, for one who has used a little', async () => {
      const turns = turnsOf({ mostWaiting: 4 });
      await under(turns, 'ann').endAfter(300);
      const images = ['bob', 'cat', 'cat', 'cat', 'cat'].map((user) => under(turns, user));
      under(turns, 'ann');
      await expect(images.at(-1)?.done).rejects.toBeInstanceOf(Unavailable);
    });

    it('is refused to those who would have as much as any other', async () => {
      const turns = turnsOf({ mostWaiting: 2 });
      const images = ['ann', 'bob', 'cat'].map((user) => under(turns, user));
      await expect(turns.run('dan', () => Promise.resolve())).rejects.toMatchObject({ status: 503 });
      for (const image of images) await image.endAfter(0);
    });
  });
});
