import type { Rows, Section, Values } from '../base/settings';
import * as clients from './sections/clients';
import * as database from './sections/database';
import * as groups from './sections/groups';
import * as images from './sections/images';
import * as limits from './sections/limits';
import * as messaging from './sections/messaging';
import * as server from './sections/server';
import * as sessions from './sections/sessions';
import * as sms from './sections/sms';
import * as verification from './sections/verification';

/** All variables, in the order of .env.example and of mistakes. */
export const SECTIONS: readonly Section[] = [
  ...server.SECTIONS,
  ...database.SECTIONS,
  ...sessions.SECTIONS,
  ...sms.SECTIONS,
  ...images.SECTIONS,
  ...messaging.SECTIONS,
  ...clients.SECTIONS,
  ...verification.SECTIONS,
  ...groups.SECTIONS,
  ...limits.SECTIONS,
];

/** Rows whose values the settings read by name. A vendor's are read in its folder. */
type OwnRows = typeof server.ROWS &
  typeof database.ROWS &
  typeof sessions.ROWS &
  typeof sms.ROWS &
  typeof images.ROWS &
  typeof messaging.ROWS &
  typeof clients.ROWS &
  typeof verification.ROWS &
  typeof groups.ROWS &
  typeof limits.ROWS;

export type Environment = Values<OwnRows>;

export const ROWS = Object.fromEntries(SECTIONS.flatMap(({ rows }) => Object.entries(rows))) as Rows as OwnRows;

export const VARIABLES = Object.keys(ROWS);

/** Secrets, which may also be given as NAME_FILE: the path of a file that contains the secret. */
export const SECRETS = VARIABLES.filter((name) => (ROWS as Rows)[name]?.secret);

/** First words of names that no other known program uses: those that sections name, and those of vendors. */
export const OWN_WORDS = SECTIONS.flatMap(({ ours }) => ours ?? []);
