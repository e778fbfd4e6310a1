import { parseArgs } from 'node:util';

export const SCENARIOS = ['read', 'sync', 'login', 'codes', 'storm', 'full-sync', 'growth', 'start', 'profile'];
const DEFAULTS = { rounds: 5, seconds: 6, warmUp: 1, users: 100_000, requests: 1_000_000, scenarios: SCENARIOS };
/** For every push: two minutes, and compared with what was recorded. */
const SHORT = {
  rounds: 2,
  seconds: 2,
  warmUp: 0,
  users: 10_000,
  requests: 20_000,
  scenarios: ['read', 'sync', 'login', 'codes'],
};

const USAGE = `usage: node bench/run.mjs [options]
  --short            two minutes' check against bench/recorded.json; nothing in docs/ is written
  --record           with --short: put what was measured into bench/recorded.json
  --only=a,b         these scenarios: ${SCENARIOS.join(', ')}
  --rounds=N         measurements of each contestant (${DEFAULTS.rounds})
  --seconds=N        length of each measurement (${DEFAULTS.seconds})
  --users=N          users in the database (${DEFAULTS.users}); growth goes from a tenth to ten times of it
  --requests=N       requests between the two looks at the memory in "start" (${DEFAULTS.requests})`;

export function readOptions(args) {
  try {
    return parse(args);
  } catch (error) {
    process.stderr.write(`${error.message}\n${USAGE}\n`);
    process.exit(2);
  }
}

function parse(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const options = { short: flag, record: flag, only: text, rounds: text, seconds: text, users: text };
  const { values } = parseArgs({ args, options: { ...options, requests: text } });
  const defaults = values.short ? SHORT : DEFAULTS;
  const number = (name, least = 1) => (values[name] === undefined ? defaults[name] : whole(name, values[name], least));
  return {
    short: values.short,
    record: values.record,
    rounds: number('rounds'),
    seconds: number('seconds'),
    warmUp: defaults.warmUp,
    users: number('users', 1_000),
    requests: number('requests'),
    scenarios: values.only === undefined ? defaults.scenarios : scenarios(values.only),
  };
}

function scenarios(only) {
  const wanted = only.split(',');
  const unknown = wanted.filter((name) => !SCENARIOS.includes(name));
  if (unknown.length > 0) throw new Error(`--only: no such scenario: ${unknown.join(', ')}`);
  return SCENARIOS.filter((name) => wanted.includes(name));
}

function whole(name, value, least) {
  if (!/^\d{1,9}$/.test(value) || Number(value) < least)
    throw new Error(`--${name}: must be a whole number from ${least}`);
  return Number(value);
}
