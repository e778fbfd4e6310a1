import { readTestNumbers, TestNumbers, type TestNumber } from '../../src/features/sending/test-numbers';
import { rememberSecret } from '../support/secrets';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const CODE = rememberSecret('718281');
const read = (text: string) => readTestNumbers(text, NOW);

describe('TEST_NUMBERS', () => {
  it('are numbers with their codes and last days, separated by commas or lines', () => {
    expect(read(`+447700900123=${CODE}@2026-12-31, +12025550123=${CODE}@2027-02-24\n`)).toEqual([
      { number: '+447700900123', code: CODE, lastDay: '2026-12-31' },
      { number: '+12025550123', code: CODE, lastDay: '2027-02-24' },
    ]);
    expect(read('')).toEqual([]);
  });

  it('may have ended, so that the service still starts', () => {
    expect(read(`+447700900123=${CODE}@2026-01-31`)).toHaveLength(1);
  });

  // guard fixed-codes-2: a fixed code holds for 90 days at most
  // src/features/sending/test-numbers.ts
  // - if (day > now + MOST_DAYS * DAY_MS) return
  // + if (day > Infinity) return
  it.each([
    ['+447700900123', 'entry 1 must look like +447700900123=271828@2027-01-31'],
    [`+447700900123=${CODE}`, 'entry 1 must look like'],
    [`447700900123=${CODE}@2026-12-31`, 'entry 1 must look like'],
    [`+447700900123=${CODE}0@2026-12-31`, 'entry 1 must look like'],
    [`+447700900123=${CODE}@31.12.2026`, 'entry 1 must look like'],
    [`+4477009=${CODE}@2026-12-31`, 'entry 1 must have a possible number'],
    [`+4407700900123=${CODE}@2026-12-31`, 'entry 1 must have a possible number'],
    [`+447700900123=${CODE}@2026-11-31`, 'entry 1 must have a day that exists'],
    [`+447700900123=${CODE}@2026-13-01`, 'entry 1 must have a day that exists'],
    [`+447700900123=${CODE}@2027-02-25`, 'entry 1 must end within 90 days'],
    [`+12025550123=${CODE}@2026-12-31,+447700900123=1@2026-12-31`, 'entry 2 must look like'],
    [`+447700900123=${CODE}@2026-12-31,+447700900123=${CODE}@2026-12-30`, 'each number must be there once'],
  ])('are refused in one line without number and code (%#)', (text, mistake) => {
    const mistakes = read(text);
    expect(mistakes).toEqual([expect.stringContaining(mistake)]);
    if (!mistake.includes('look like')) expect(JSON.stringify(mistakes)).not.toMatch(/7700|718281/);
  });
});

describe('a test number', () => {
  const numbers = (now: string, proved: string[] = []) =>
    new TestNumbers(
      read(`+447700900123=${CODE}@2026-12-31`) as TestNumber[],
      { provedPhones: async (wanted) => wanted.filter((number) => proved.includes(number)) },
      () => Date.parse(now),
    );
  const codeOf = (one: TestNumbers, number = '+447700900123') => one.codeFor({ number, region: '44' });

  // guard fixed-codes-1: a fixed code ends with its last day
  // src/features/sending/test-numbers.ts
  // - if (this.now() >= Date.parse(lastDay) + DAY_MS) return 'ended';
  it('takes its code until the end of its last day, in UTC', async () => {
    expect(await codeOf(numbers('2026-12-31T23:59:59.999Z'))).toBe(CODE);
    expect(await codeOf(numbers('2027-01-01T00:00:00Z'))).toBeUndefined();
    expect(await codeOf(numbers('2026-12-01T00:00:00Z'), '+447700900124')).toBeUndefined();
  });

  it('does not take its code while its account was proved by one that was sent', async () => {
    expect(await codeOf(numbers('2026-12-01T00:00:00Z', ['+447700900123']))).toBeUndefined();
  });

  it.each<[string, string[], string, string]>([
    ['2026-12-01', [], 'in force', 'takes a fixed code, and is sent none, until 2026-12-31'],
    ['2027-01-01', [], 'ended', 'was a test number until 2026-12-31: now it is a number like any other'],
    ['2026-12-01', ['+447700900123'], 'refused', 'is not taken as a test number, since its account was registered by'],
  ])('is told of, without its number and code (%s %s)', async (now, proved, state, words) => {
    const lines = await numbers(now, proved).lines();
    expect(lines).toEqual([{ state, line: expect.stringContaining(`+447…23 ${words}`) as string }]);
    expect(lines[0]?.line).not.toContain(CODE);
  });
});
