import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BadRequest, NotFound, SendingTooOften, TooManyRequests, Wrong } from '../../src/base/errors';
import { COMMON_REASONS, REASONS, type Reason } from '../../src/base/reasons';
import { OPERATIONS } from '../support/operations';

const sources = ['src', 'packages/image-server/src']
  .map((folder) => join(__dirname, '../..', folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('/reasons.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('');
const names = Object.keys(REASONS) as Reason[];

/** Reasons that the proxy gives when the service does not answer. */
const OF_THE_PROXY = ['bad_gateway', 'service_away'];

describe('an error', () => {
  it('accepts only reasons of its own code: this file compiles', () => {
    expect(new BadRequest('phone_taken', 'x')).toMatchObject({ reason: 'phone_taken', code: 400, status: 400 });
    expect(new Wrong('wrong_code', 'x')).toMatchObject({ reason: 'wrong_code', code: 1000, status: 200 });
    const wrong = [
      // @ts-expect-error -- a reason of 404
      () => new BadRequest('no_such_user', 'x'),
      // @ts-expect-error -- a reason of 400
      () => new NotFound('unknown_user', 'x'),
      // @ts-expect-error -- a reason of 5000
      () => new TooManyRequests('too_soon', 'x'),
      // @ts-expect-error -- a reason of 2000
      () => new SendingTooOften('guesses_spent', 'x'),
      // @ts-expect-error -- not a reason
      () => new BadRequest('some_reason', 'x'),
    ];
    expect(wrong).toHaveLength(5);
  });
});

describe.each(names)('the reason %s', (name) => {
  it('is in snake case, and has a code and words', () => {
    const { code, when } = REASONS[name];
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect([1000, 2000, 5000].includes(code) || (code >= 400 && code < 800)).toBe(true);
    expect(when).toMatch(/^[a-zA-Z`'].*[^.]$/);
  });

  if (!OF_THE_PROXY.includes(name))
    it('is used somewhere', () => {
      expect(sources).toContain(`'${name}'`);
    });
});

it.each(OPERATIONS)('$path names each reason once, without those that all operations have', ({ refusals = [] }) => {
  expect(new Set(refusals).size).toBe(refusals.length);
  for (const reason of COMMON_REASONS) expect(refusals).not.toContain(reason);
});

describe('docs/reasons.md', () => {
  const page = readFileSync(join(__dirname, '../../docs/reasons.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| [a-z_]+ \| \d+ \|/.test(line));

  it('lists each reason with its code, its cause and what a client does then', () => {
    const expected = names.map((name) => `| ${name} | ${REASONS[name].code} | ${REASONS[name].when} | `);
    expect(rows.map((row, index) => row.slice(0, expected[index]?.length))).toEqual(expected);
    for (const row of rows) expect(row).toMatch(/ \| [a-z].{3,} \|$/);
  });

  it('mentions no other reason, and docs/api.md no other status', () => {
    const api = readFileSync(join(__dirname, '../../docs/api.md'), 'utf8');
    const statuses = [
      ...api.slice(api.indexOf('| HTTP |'), api.indexOf('Refusals come')).matchAll(/^\| ([\d, ]+) \|/gm),
    ];
    const documented = statuses.flatMap(([, codes = '']) => codes.split(', ').map(Number));
    const all = names.map((name): number => REASONS[name].code).filter((code) => code < 1_000);
    expect(documented.sort()).toEqual([...new Set(all)].sort());
    for (const [, word = ''] of page.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)) expect(names).toContain(word);
  });
});
