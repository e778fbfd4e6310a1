import { parseArgs } from 'node:util';

export const SCENARIOS = [
  'read',
  'sync',
  'login',
  'codes',
  'storm',
  'full-sync',
  'growth',
  'instances',
  'standby',
  'waiting',
  'undelivered',
  'start',
  'profile',
];
const DEFAULTS = { rounds: 5, seconds: 6, warmUp: 1, users: 100_000, requests: 1_000_000, scenarios: SCENARIOS };
const SHORT = { rounds: 2, seconds: 2, warmUp: 0, users: 10_000, scenarios: ['read', 'sync', 'login', 'codes'] };

const USAGE = `usage: npm run bench -- [options]
  --short        a check of three minutes against bench/recorded.json; does not write to docs/
  --record       with --short: write the results into bench/recorded.json
  --only=a,b     only these scenarios: ${SCENARIOS.join(', ')}
  --rounds=N     measurements of each contestant (${DEFAULTS.rounds})
  --seconds=N    length of each measurement (${DEFAULTS.seconds})
  --against=C    also measures the build of commit C, in read, sync and login; does not write to docs/
  --users=N      users in the database, a power of ten (${DEFAULTS.users}); growth compares a tenth with ten times of it
  --requests=N   requests between two readings of the memory in "start" (${DEFAULTS.requests})
`;

/** Returns the options in `args`; undefined when they ask for help, or are invalid. */
export function readOptions(args) {
  const [flag, text] = [{ type: 'boolean' }, { type: 'string' }];
  const numbers = { rounds: text, seconds: text, users: text, requests: text };
  try {
    const { values } = parseArgs({
      args,
      options: { short: flag, record: flag, help: flag, only: text, against: text, ...numbers },
    });
    if (!values.help) return checked(values);
    process.stdout.write(USAGE);
  } catch (error) {
    process.stderr.write(`${error.message}\n${USAGE}`);
    process.exitCode = 2;
  }
  return undefined;
}

function checked({ short = false, record = false, only, against, ...numbers }) {
  const wanted = Object.entries(numbers).map(([name, value]) => [name, Number(value)]);
  for (const [name, value] of wanted)
    if (!Number.isInteger(value) || value < 1 || (name === 'users' && !/^10{3,6}$/.test(value)))
      throw new Error(`--${name}=${numbers[name]}: is not a valid number`);
  const all = { ...DEFAULTS, ...(short && SHORT), ...Object.fromEntries(wanted), short, record, against };
  const scenarios = only?.split(',') ?? all.scenarios;
  const unknown = scenarios.filter((name) => !SCENARIOS.includes(name));
  if (unknown.length > 0) throw new Error(`--only: no such scenario: ${unknown.join(', ')}`);
  return { ...all, scenarios };
}
