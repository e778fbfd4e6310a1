import { OwnCounts } from '../../src/features/limits/own-counts';

const SPENT = { used: 2, noted: true, spent: true };

describe('OwnCounts', () => {
  let now = 0;
  const counts = new OwnCounts(() => now);
  const bucket = (key: string, amount = 2) => ({ key, amount, seconds: 60 });
  const full = (...wanted: ReturnType<typeof bucket>[]) =>
    counts.take(wanted).map(({ key, seconds }) => [key, seconds]);

  it('takes what there is within a window that begins with the first use', () => {
    expect(full(bucket('a'))).toEqual([]);
    now = 20_000;
    expect(full(bucket('a'))).toEqual([]);
    expect(full(bucket('a'))).toEqual([['a', 40]]);
    now = 60_000;
    expect(full(bucket('a'))).toEqual([]);
  });

  it('takes from all or from none', () => {
    expect(full(bucket('b', 1), bucket('c'))).toEqual([]);
    expect(full(bucket('b', 1), bucket('c'))).toEqual([['b', 60]]);
    expect(full(bucket('c'))).toEqual([]);
    expect(full(bucket('c'))).toEqual([['c', 60]]);
  });

  it('goes on from what the shared buckets last said', () => {
    counts.learn([{ key: 'd', used: 1, seconds: 30 }]);
    expect(full(bucket('d'))).toEqual([]);
    expect(full(bucket('d'))).toEqual([['d', 30]]);
    counts.learnFull([{ key: 'e', seconds: 10, ...SPENT }], [bucket('e')]);
    expect(full(bucket('e'))).toEqual([['e', 10]]);
  });

  it('adds what it has counted alone to what the shared buckets say, until the window ends', () => {
    const wide = bucket('alone', 4);
    counts.learn([{ key: 'alone', used: 1, seconds: 30 }]);
    expect([full(wide), full(wide)]).toEqual([[], []]);
    counts.learn([{ key: 'alone', used: 2, seconds: 30 }]);
    expect(counts.overdrawn([wide])).toEqual([]);
    counts.learn([{ key: 'alone', used: 3, seconds: 30 }]);
    expect(counts.overdrawn([wide]).map(({ key }) => key)).toEqual(['alone']);
    now += 30_000;
    counts.learn([{ key: 'alone', used: 1, seconds: 30 }]);
    expect(counts.overdrawn([wide])).toEqual([]);
    expect([full(wide), full(wide), full(wide)].flat()).toEqual([]);
  });

  it('believes for a moment what it was told to be full', () => {
    counts.learnFull([{ key: 'f', seconds: 10, ...SPENT }], [bucket('f')]);
    expect(counts.knownFull([bucket('f'), bucket('g')])).toEqual([{ key: 'f', seconds: 10, ...SPENT }]);
    now += 250;
    expect(counts.knownFull([bucket('f')])).toEqual([]);
  });

  it('has one of many ask anew when that moment has passed', () => {
    counts.learnFull([{ key: 'h', seconds: 10, ...SPENT }], [bucket('h')]);
    now += 250;
    const known = [1, 2, 3].map(() => counts.knownFullOrToAsk([bucket('h')]).length);
    expect(known).toEqual([0, 1, 1]);
    counts.forget('h');
    expect(counts.knownFullOrToAsk([bucket('h')])).toEqual([]);
  });

  it('has somebody ask however often others only look', () => {
    counts.learnFull([{ key: 'i', seconds: 10, ...SPENT }], [bucket('i')]);
    for (let looked = 0; looked < 5; looked += 1) {
      now += 250;
      expect(counts.knownFull([bucket('i')])).toEqual([]);
    }
    expect(counts.knownFullOrToAsk([bucket('i')])).toEqual([]);
  });

  it('has somebody ask however many buckets were found full at different moments', () => {
    const [one, other] = [bucket('j'), bucket('k')];
    counts.learnFull([{ key: 'j', seconds: 60, ...SPENT }], [one]);
    now += 100;
    counts.learnFull([{ key: 'k', seconds: 60, ...SPENT }], [other]);
    const asked = Array.from({ length: 100 }, () => {
      now += 50;
      return counts.knownFullOrToAsk([one, other]).length === 0;
    });
    expect(asked.filter(Boolean).length).toBeGreaterThan(15);
  });

  it('forgets what has been cleared, and whatever begins with it', () => {
    const keys = ['p:1 a', 'p:1 b', 'p:10 a'];
    for (const key of keys) counts.learnFull([{ key, seconds: 10, ...SPENT }], [bucket(key)]);
    counts.forgetAll('p:1 ');
    expect(counts.knownFull(keys.map((key) => bucket(key))).map(({ key }) => key)).toEqual(['p:10 a']);
  });

  it('forgets everything rather than fill the memory', () => {
    for (let subject = 0; subject <= 100_001; subject += 1) counts.take([bucket(`subject-${subject}`)]);
    expect((Reflect.get(counts, 'buckets') as Map<string, unknown>).size).toBeLessThan(100);
  });
});
