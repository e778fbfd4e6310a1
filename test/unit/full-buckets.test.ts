import { FullBuckets } from '../../src/features/limits/full-buckets';

const bucket = (key: string, amount = 2) => ({ key, amount, seconds: 60 });

describe('FullBuckets', () => {
  let now = 0;
  const buckets = new FullBuckets(() => now);

  /** As the database reports it. */
  function findFull(key: string, seconds = 10): void {
    buckets.learn([{ key, seconds, used: 2, noted: false }], [bucket(key)]);
  }

  it('treats a bucket as full for a moment after it was reported full', () => {
    findFull('a');
    const known = { key: 'a', seconds: 10, used: 2, noted: true };
    expect(buckets.known([bucket('a'), bucket('b')])).toEqual([known]);
    now += 250;
    expect(buckets.known([bucket('a')])).toEqual([]);
  });

  it('knows that a full bucket has room for a larger limit of the same name', () => {
    findFull('c');
    expect(buckets.known([bucket('c', 3)])).toEqual([]);
  });

  // guard full-buckets-1: one of many callers at a full limit asks the database again
  // src/features/limits/full-buckets.ts
  // - if (bucket) bucket.freshUntil = freshUntil;
  it('lets one of many callers ask the database again after that moment', () => {
    findFull('d');
    now += 250;
    const known = [1, 2, 3].map(() => buckets.knownOrToAsk([bucket('d')]).length);
    expect(known).toEqual([0, 1, 1]);
    buckets.forget('d');
    expect(buckets.knownOrToAsk([bucket('d')])).toEqual([]);
  });

  it('lets a caller ask the database however often others only look', () => {
    findFull('e');
    for (let looked = 0; looked < 5; looked += 1) {
      now += 250;
      expect(buckets.known([bucket('e')])).toEqual([]);
    }
    expect(buckets.knownOrToAsk([bucket('e')])).toEqual([]);
  });

  // guard full-buckets-2: buckets that were found full at different moments do not keep each other marked as full
  // src/features/limits/full-buckets.ts
  // - if (known.length > 0) return known;
  // +     for (const { key } of this.notReset(wanted)) {
  // +       const one = this.buckets.get(key);
  // +       if (one && one.freshUntil <= this.now()) one.freshUntil = this.now() + FRESH_MS;
  // +     }
  // +     if (known.length > 0) return known;
  it('lets a caller ask the database however many buckets were reported full at different moments', () => {
    findFull('f', 60);
    now += 100;
    findFull('g', 60);
    const asked = Array.from({ length: 100 }, () => {
      now += 50;
      return buckets.knownOrToAsk([bucket('f'), bucket('g')]).length === 0;
    });
    expect(asked.filter(Boolean).length).toBeGreaterThan(15);
  });

  it('forgets buckets that were cleared, that have room by the database, or that begin with a prefix', () => {
    const keys = ['p:1 a', 'p:1 b', 'p:10 a', 'p:11 a'];
    for (const key of keys) findFull(key);
    buckets.forgetAll('p:1 ');
    buckets.learn([], [bucket('p:11 a')]);
    expect(buckets.known(keys.map((key) => bucket(key))).map(({ key }) => key)).toEqual(['p:10 a']);
  });

  it('forgets everything before it fills the memory', () => {
    for (let subject = 0; subject <= 100_001; subject += 1) findFull(`subject-${subject}`);
    expect((Reflect.get(buckets, 'buckets') as Map<string, unknown>).size).toBeLessThan(100);
  });
});
