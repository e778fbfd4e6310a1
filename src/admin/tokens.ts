import { randomBytes } from 'node:crypto';

const PREFIX = 'adm_';
const BYTES = 32;

/** Length of the random part in base64url. */
const CHARACTERS = Math.ceil((BYTES * 4) / 3);

/** The header of a token. Its prefix lets scanners of leaked secrets recognise it. */
const HEADER = new RegExp(`^Bearer (${PREFIX}[A-Za-z0-9_-]{${CHARACTERS}})$`, 'i');

export function newToken(): string {
  return PREFIX + randomBytes(BYTES).toString('base64url');
}

/** Returns the token of a header Authorization, or undefined if it has none. */
export function tokenIn(header = ''): string | undefined {
  return HEADER.exec(header)?.[1];
}
