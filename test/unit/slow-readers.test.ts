import { lookAtEach } from '../../src/http/slow-readers';

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('the service', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  // guard slow-readers-1: every connection is looked at, also those that come in between
  // src/http/slow-readers.ts
  // - isLast ? Infinity : Math.ceil(all.size / PARTS)
  // + Math.ceil(all.size / PARTS)
  it('looks at each connection once in its time, and at few of them at once', () => {
    const all = new Set(numbers(0, 95));
    let looked: number[] = [];
    const end = lookAtEach(all, 1_000, (number) => looked.push(number));
    jest.advanceTimersByTime(100);
    expect(looked).toEqual(numbers(0, 10));
    all.delete(9);
    all.delete(94);
    jest.advanceTimersByTime(800);
    for (const added of numbers(95, 200)) all.add(added);
    jest.advanceTimersByTime(100);
    expect(looked).toEqual([...numbers(0, 94), ...numbers(95, 200)]);

    looked = [];
    jest.advanceTimersByTime(1_000);
    expect(looked).toEqual([...all]);
    end();
    jest.advanceTimersByTime(1_000);
    expect(looked).toEqual([...all]);
  });
});
