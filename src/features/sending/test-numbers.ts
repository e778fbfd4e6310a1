import { masked, readInternational, type Phone } from '../phones/phone-number';

/** A number that is sent nothing, and proved by a fixed code, for reviewers of an app and for tests of the whole. */
export interface TestNumber {
  number: string;
  code: string;
  /** The last day on which this holds, in UTC. */
  lastDay: string;
}

/** Detail of events that a fixed code caused. */
export const TEST_NUMBER = 'test number';

const FORM = /^(\+\d{6,17})=(\d{6})@(\d{4}-\d{2}-\d{2})$/;
const DAY_MS = 86_400_000;
const MOST_DAYS = 90;

/** Reads TEST_NUMBERS. Returns the mistakes instead if there are any, without numbers and codes. */
export function readTestNumbers(text: string, now = Date.now()): TestNumber[] | string[] {
  const read = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((entry) => testNumberIn(entry, now));
  const mistakes = read.flatMap((one, index) => (typeof one === 'string' ? [`entry ${index + 1} ${one}`] : []));
  if (mistakes.length > 0) return mistakes;
  const numbers = read.filter((one) => typeof one !== 'string');
  const isTwice = new Set(numbers.map(({ number }) => number)).size < numbers.length;
  return isTwice ? ['each number must be there once'] : numbers;
}

function testNumberIn(entry: string, now: number): TestNumber | string {
  const [, number = '', code = '', lastDay = ''] = FORM.exec(entry) ?? [];
  if (code === '') return 'must look like +447700900123=271828@2027-01-31';
  if (readInternational(number)?.number !== number) return 'must have a possible number, with + and its country code';
  const day = Date.parse(lastDay);
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== lastDay) return 'must have a day that exists';
  if (day > now + MOST_DAYS * DAY_MS) return `must end within ${MOST_DAYS} days`;
  return { number, code, lastDay };
}

/** Whether a number takes its fixed code now, and otherwise why it is a number like any other. */
type State = 'in force' | 'ended' | 'refused';

interface Accounts {
  /** Returns those of the phones that belong to an account, and were proved by a code that was sent. */
  provedPhones(numbers: string[]): Promise<string[]>;
}

/** Decides for which numbers no code is sent. */
export class TestNumbers {
  constructor(
    private readonly numbers: TestNumber[],
    private readonly accounts: Accounts,
    private readonly now = () => Date.now(),
  ) {}

  /** Returns the fixed code of a phone, or undefined for a phone that is sent its codes. */
  async codeFor({ number }: Phone): Promise<string | undefined> {
    const [found] = await this.withStates(this.numbers.filter((one) => one.number === number));
    return found?.state === 'in force' ? found.code : undefined;
  }

  /** Returns a line for each number, for the operator. Shows neither numbers nor codes in full. */
  async lines(): Promise<{ line: string; state: State }[]> {
    const all = await this.withStates(this.numbers);
    return all.map(({ number, lastDay, state }) => ({ line: `${masked(number)} ${wordsFor(state, lastDay)}`, state }));
  }

  /** Never lets a fixed code into an account whose phone was proved by a code that was sent. */
  private async withStates(numbers: TestNumber[]): Promise<(TestNumber & { state: State })[]> {
    if (numbers.length === 0) return [];
    const proved = await this.accounts.provedPhones(numbers.map(({ number }) => number));
    const stateOf = ({ number, lastDay }: TestNumber): State => {
      if (this.now() >= Date.parse(lastDay) + DAY_MS) return 'ended';
      return proved.includes(number) ? 'refused' : 'in force';
    };
    return numbers.map((one) => ({ ...one, state: stateOf(one) }));
  }
}

function wordsFor(state: State, lastDay: string): string {
  if (state === 'in force') return `takes a fixed code, and is sent none, until ${lastDay}`;
  const now = 'now it is a number like any other, so remove it from TEST_NUMBERS';
  if (state === 'ended') return `was a test number until ${lastDay}: ${now}`;
  return `is not taken as a test number, since its account was registered by a code that was sent: ${now}`;
}
