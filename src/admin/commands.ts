import { AUDIT } from './audit-commands';
import type { Command } from './command';
import { DATABASE } from './database-commands';
import { DEMO } from './demo-data';
import { DEVICES } from './devices-commands';
import { doctor } from './doctor';
import { GROUPS } from './groups-commands';
import { IMAGES } from './images-commands';
import { KEYS } from './keys-commands';
import { LIMITS } from './limits-commands';
import { MESSAGING } from './messaging-commands';
import { ROUTES } from './routes-commands';
import { SESSIONS } from './sessions-commands';
import { SPEND } from './spend-commands';
import { SUSPENSION } from './suspension-commands';
import { TOKENS } from './tokens-commands';
import { USERS } from './users-commands';
import { WEBHOOKS } from './webhooks-commands';
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
  what: 'looks at settings, database, disk, backups, proxy, public address and codes: ok, or what to do',
  scope: 'read',
  run: doctor,
};

/**
 * Every command of operators. Help, completion, the admin API, its document and the table of docs/admin.md are made from
 * this one.
 */
export const COMMANDS: Command[] = [
  WHY,
  ...USERS,
  ...SUSPENSION,
  ...SESSIONS,
  ...DEVICES,
  ...AUDIT,
  ...LIMITS,
  ...SPEND,
  ...ROUTES,
  ...GROUPS,
  ...WEBHOOKS,
  ...MESSAGING,
  ...IMAGES,
  ...KEYS,
  DOCTOR,
  ...DATABASE,
  DEMO,
  ...TOKENS,
];
