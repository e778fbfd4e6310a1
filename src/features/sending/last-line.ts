import { isIP } from 'node:net';

/** Systems that read the code out of the message, each in a way of its own. */
export const CLIENTS = ['android', 'ios', 'web'] as const;

export interface LastLines {
  /** Hash of the Android app, by which the system finds the messages that are for it. */
  androidHash: string | undefined;
  /** Origin of PUBLIC_URL. */
  ownOrigin: string | undefined;
  /** Other origins that pages may send requests from. */
  origins: string[];
}

/** Client of a request, as it names itself, and as its browser names its page. */
export interface Client {
  kind: (typeof CLIENTS)[number] | undefined;
  origin: string | undefined;
}

/**
 * Returns the last line by which the client finds the code, with {code} in it. A browser offers the code to the domain
 * of that line, so it can only be a domain that the operator has listed.
 */
export function lastLineFor({ kind, origin }: Client, lines: LastLines): string | undefined {
  if (kind === 'android') return lines.androidHash;
  if (kind === 'ios') return undefined;
  const { ownOrigin } = lines;
  if (origin !== undefined) return domainsOf(lines).includes(origin) ? originLine(origin) : undefined;
  return kind === 'web' && ownOrigin !== undefined ? originLine(ownOrigin) : undefined;
}

/** Returns all last lines that messages may get. */
export function allLastLines(lines: LastLines): string[] {
  const ofPages = domainsOf(lines).map(originLine);
  return [...new Set([lines.androidHash, ...ofPages])].filter((line) => line !== undefined);
}

/** Whether a text has a last line of its own: an origin-bound one, or the hash of an app. */
export function hasLastLine(text: string): boolean {
  return (
    /(^|\n)@\S+ #\{code\}( @\S+)?\s*$/.test(text) || /(^|\s)(?=\S*[0-9+/]|\S+[A-Z])[A-Za-z0-9+/]{11}\s*$/.test(text)
  );
}

function domainsOf({ ownOrigin, origins }: LastLines): string[] {
  return [...(ownOrigin === undefined ? [] : [ownOrigin]), ...origins];
}

/** Returns undefined for an origin that browsers do not read in a message: only names, and only with HTTPS. */
function originLine(origin: string): string | undefined {
  const { protocol, hostname } = new URL(origin);
  const isName = hostname.includes('.') && isIP(hostname) === 0;
  return protocol === 'https:' && isName ? `@${hostname} #{code}` : undefined;
}
