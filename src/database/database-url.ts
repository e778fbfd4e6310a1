import { Client } from 'pg';

/** Returns the address with the password, of any characters. Undefined if it has no host, or a password already. */
export function withPassword(address: string, password: string): string | undefined {
  const url = new URL(address);
  if (url.host === '' || url.password !== '' || url.searchParams.has('password')) return undefined;
  url.password = encodeURIComponent(password);
  return url.href;
}

const UNESCAPED =
  'has a character in its password that means something else in an address: write @ as %40, / as %2F, # as %23, ? as %3F ' +
  'and % as %25, or set the password in its own variable (…_PASSWORD)';

/** Values of sslmode that pg reads as verify-full, with an eight-line warning each time. */
const READ_AS_VERIFY_FULL = /(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/;

/** Writes sslmode as pg reads it, so that pg does not warn. */
export function forPg(address: string): string {
  return /[?&]uselibpqcompat=true/.test(address) ? address : address.replace(READ_AS_VERIFY_FULL, 'verify-full');
}

/** Returns what is wrong with an address that is a URL, without quoting any part of it. */
export function mistakeInAddress(address: string): string | undefined {
  const { pathname, search, hash } = new URL(address);
  // After one of these characters the rest of an unescaped password would be read as the path, and shown.
  if (hash !== '' || /@/.test(pathname + search)) return UNESCAPED;
  try {
    new Client({ connectionString: forPg(address) });
    return undefined;
  } catch (error) {
    if (error instanceof URIError) return UNESCAPED;
    return 'must be an address that PostgreSQL understands: are the files of its sslrootcert, sslcert and sslkey there?';
  }
}

/** Returns where a database is, for people, as pg reads the address and without user or password. */
export function publicAddress(address: string): string {
  const { host, port, database } = new Client({ connectionString: forPg(address) });
  return host.startsWith('/') ? `${host} (a socket), database ${database}` : `${host}:${port}/${database}`;
}
