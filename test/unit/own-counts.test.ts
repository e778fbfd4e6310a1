import { OwnCounts } from '../../src/features/limits/own-counts';

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

  it('forgets everything rather than fill the memory', () => {
    for (let subject = 0; subject <= 100_001; subject += 1) counts.take([bucket(`subject-${subject}`)]);
    expect((Reflect.get(counts, 'buckets') as Map<string, unknown>).size).toBeLessThan(10);
  });
});
