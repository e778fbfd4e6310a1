import { limit } from '../../base/formats';
import type { Row, Section } from '../../base/settings';
import { LIMIT_VARIABLES, type LimitRow, type LimitVariable } from '../../load/limits';

export const WINDOWS = new Map([
  [60, 'a minute'],
  [15 * 60, '15 minutes'],
  [60 * 60, 'an hour'],
  [24 * 60 * 60, 'a day'],
]);

/** The amount of a limit, 0 if it has none outside of production. */
type Amount = Row & { kind: typeof limit; default?: number };

function rowOf({ what, per, seconds, says, amount, production, required }: LimitRow): Amount {
  const counted = what && `Per ${per} in ${WINDOWS.get(Number(seconds))}: ${what}.`;
  const elsewhere = production === undefined ? {} : { default: 0, production };
  return {
    kind: limit,
    says: [counted, says].filter(Boolean).join(' '),
    ...(amount === undefined ? elsewhere : { default: amount }),
    ...(required !== undefined && { required }),
  };
}

export const ROWS = Object.fromEntries([...LIMIT_VARIABLES].map(([name, row]) => [name, rowOf(row)])) as Record<
  LimitVariable,
  Amount
>;

export const SECTIONS: Section[] = [
  {
    title: 'Limits: 0 lifts a limit',
    says: `docs/limits.md has all limits. An IPv6 address counts by its /64, by its /56 (4 times the amount) and by its /48 (16
    times).`,
    rows: ROWS,
    ours: 'SEND_CODE WRONG_CODES LOGIN_FAILURES LOGINS_PER FINDS_PER CHECKS_PER VERIFIES_PER UPLOADS'.split(' '),
  },
];
