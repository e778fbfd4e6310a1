import { AUDIT } from './audit-commands';
import type { Command } from './command';
import { DATABASE } from './database-commands';
import { doctor } from './doctor';
import { LIMITS } from './limits-commands';
import { SESSIONS } from './sessions-commands';
import { SPEND } from './spend-commands';
import { SUSPENSION } from './suspension-commands';
import { USERS } from './users-commands';
import { why } from './why';

const WHY: Command = {
  name: 'why',
  takes: '<phone>',
  what: 'tells why a number gets no code, or cannot log in',
  scope: 'support',
  options: { '--fix': 'clears the limits of this number that are used up' },
  changes: ({ fix }) => fix === true,
  run: why,
};

const DOCTOR: Command = {
  name: 'doctor',
  takes: '',
  what: 'looks at settings, database, disk, clock, public address and codes: ok, or what to do',
  scope: 'read',
  run: doctor,
};

/** Every command of operators. Help, docs/admin.md and the tests are made of this table. */
// prettier-ignore
export const COMMANDS: Command[] = [
  WHY, ...USERS, ...SUSPENSION, ...SESSIONS, ...AUDIT, ...LIMITS, ...SPEND, DOCTOR, ...DATABASE,
];
