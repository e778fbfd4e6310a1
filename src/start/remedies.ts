import { codeOf } from '../base/errors';
import { publicAddress } from '../database/database-url';

export type Address = 'DATABASE_URL' | 'DATABASE_MIGRATION_URL' | 'DATABASE_LIMITS_URL';
type Remedy = (address: Address) => string;

const notThere: Remedy = (address) => `Is the host in ${address} spelt right, and known to the DNS of this machine?`;
const silent: Remedy = (address) => `Check host and port in ${address}, and the firewalls between here and there`;
const other: Remedy = (address) => `Check that PostgreSQL listens there, and that ${address} has its port`;
const noSocket: Remedy = (address) => `Is PostgreSQL running, and its socket in the folder that ${address} names?`;
const untrusted: Remedy = (address) =>
  `Name its certificate authority in ${address}: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem`;
const occupied: Remedy = (address) => `It has tables of other software: set ${address} to a separate database`;
const tooOld: Remedy = () => 'PostgreSQL 15 or newer is needed: check with SELECT version()';

// prettier-ignore
const BY_CODE: Record<string, Remedy> = {
  ECONNREFUSED: (address) => `Nothing listens there: start PostgreSQL, or set ${address} to where it runs`,
  ENOTFOUND: notThere, EAI_AGAIN: notThere,
  ETIMEDOUT: silent, EHOSTUNREACH: silent, ENETUNREACH: silent,
  ECONNRESET: other, EPIPE: other, '08P01': other,
  ENOENT: noSocket, EACCES: noSocket,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted, SELF_SIGNED_CERT_IN_CHAIN: untrusted, CERT_HAS_EXPIRED: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted, UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: (address) => `Give ${address} the host name that the certificate is for`,
  '28P01': (address) => `Check the user and the password in ${address} or ${passwordOf(address)}`,
  '28000': (address) =>
    `Does the role exist, does pg_hba.conf admit it from here, and does ${address} need ?sslmode=require?`,
  '22P05': (address) =>
    `The service needs UTF8: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8', and set ${address} to that one`,
  '3D000': (address) => `Create it (CREATE DATABASE …), or set ${address} to an existing one`,
  '53300': () => 'Raise max_connections of PostgreSQL, or lower DATABASE_POOL_MAX of each instance',
  '57P03': () => 'It is starting or stopping: start again when it is up, or set DATABASE_WAIT_SECONDS',
  '42501': () =>
    'Migrations run as the owner of the tables: set DATABASE_MIGRATION_URL, or AUTO_MIGRATE=off. ' +
    'The first migration also needs CREATE on the schema public',
  '25006': (address) => `It does not take writes, like a standby: set ${address} to the primary`,
  '53100': () => 'The disk of PostgreSQL is full: make room there',
  '55P03': () => 'A long transaction holds a lock on a table: find it in pg_stat_activity, end it, and start again',
  '42P07': occupied, '42710': occupied, '42701': occupied,
  '42601': tooOld, '0A000': tooOld, '42883': tooOld,
};

/** Errors without a code, which pg identifies only by words. */
const BY_WORDS: [words: RegExp, remedy: Remedy][] = [
  [/password must be a( non-empty)? string/, (address) => `It requires a password: set it in ${passwordOf(address)}`],
  [/timeout expired|timeout exceeded/, silent],
  [/does not support SSL/, (address) => `Turn ssl on in PostgreSQL, or take sslmode out of ${address}`],
  [/Connection terminated|SSL establishment|Received unexpected/, other],
];

/** Tells in a sentence why a database cannot be used, and what an operator can do. */
export function unusable(name: Address, url: string, error: unknown): string {
  const where = name === 'DATABASE_URL' ? '' : ` (${name})`;
  return `the database at ${publicAddress(url)}${where} cannot be used: ${messageOf(error)}. ${remedyFor(error, name)}`;
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one: unknown) => messageOf(one)).join(', ');
  if (!(error instanceof Error)) return 'unknown error';
  // Knex puts the statement, perhaps a whole migration, in front of the message.
  return 'severity' in error ? error.message.replace(/^.* - (?=\S)/s, '') : error.message;
}

function remedyFor(error: unknown, address: Address): string {
  const code = codeOf(error) ?? '';
  const words = error instanceof Error ? error.message : '';
  const remedy = BY_CODE[code] ?? BY_WORDS.find(([known]) => known.test(words))?.[1];
  return remedy?.(address) ?? 'The log of PostgreSQL has more details';
}

function passwordOf(address: Address): string {
  return address === 'DATABASE_LIMITS_URL' ? 'DATABASE_PASSWORD' : address.replace(/_URL$/, '_PASSWORD');
}
