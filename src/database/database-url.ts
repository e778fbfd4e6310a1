import { Client } from 'pg';

/** The address with a password put into it, which may hold any character; undefined where there is no place for one. */
export function withPassword(address: string, password: string): string | undefined {
  const url = new URL(address);
  if (url.host === '' || url.password !== '' || url.searchParams.has('password')) return undefined;
  url.password = encodeURIComponent(password);
  return url.href;
}

const UNESCAPED =
  'has a character in its password that means something else in an address: write @ as %40, / as %2F, # as %23, ? as %3F ' +
  'and % as %25, or put the password into the variable of its own (…_PASSWORD)';

/** To pg these are verify-full, which it warns of in eight lines whenever an address says otherwise. */
const READ_AS_VERIFY_FULL = /(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/;

/** The address with its sslmode as pg takes it, so that pg need not tell. */
export function forPg(address: string): string {
  return /[?&]uselibpqcompat=true/.test(address) ? address : address.replace(READ_AS_VERIFY_FULL, 'verify-full');
}

/** What is wrong with an address that is a URL, told without any part of it. */
export function mistakeInAddress(address: string): string | undefined {
  const { pathname, search, hash } = new URL(address);
  // Behind the first of these an unescaped password goes on, and would be taken for the path, and shown.
  if (hash !== '' || /@/.test(pathname + search)) return UNESCAPED;
  try {
    new Client({ connectionString: forPg(address) });
    return undefined;
  } catch (error) {
    if (error instanceof URIError) return UNESCAPED;
    return 'must be an address that PostgreSQL understands: are the files of its sslrootcert, sslcert and sslkey there?';
  }
}

/** Where a database is, for people: by what pg makes of the address, and never with a user or password. */
export function shownAddress(address: string): string {
  const { host, port, database } = new Client({ connectionString: forPg(address) });
  return host.startsWith('/') ? `${host} (a socket), database ${database}` : `${host}:${port}/${database}`;
}
