import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../base/errors';
import { generateSigningKey, isSigningKey } from '../integrations/messaging/signing-key';

export interface Keys {
  sessionSecrets: string[];
  messagingJwtKey: string;
  /** Token of the inbox in development. */
  inboxToken: string;
}

interface KeySettings {
  dataDir: string;
  secrets: { session: string[] | undefined; messagingJwtKey: string | undefined; inboxToken?: string | undefined };
}

/** Returns the keys of this installation. Missing ones are made, and kept in DATA_DIR but for the inbox token. */
export function loadKeys({ dataDir, secrets }: KeySettings): Keys {
  return {
    sessionSecrets: secrets.session ?? [kept(dataDir, 'session-secret', () => randomBytes(32).toString('hex'))],
    messagingJwtKey: secrets.messagingJwtKey ?? kept(dataDir, 'messaging-jwt-key', generateSigningKey),
    inboxToken: secrets.inboxToken ?? randomBytes(16).toString('base64url'),
  };
}

/** Minimum length of a kept secret: as loadKeys makes them, and not an empty file. */
const LEAST_SECRET = 32;

/** Returns unusable kept keys: the disk was full, or the file was edited or belongs to another user. */
export function keyMistakes({ dataDir, secrets }: KeySettings): string[] {
  const isSecret = (value: string) => value.length >= LEAST_SECRET;
  return [
    ...(secrets.session ? [] : mistakeIn(dataDir, 'session-secret', isSecret, 'all sessions')),
    ...(secrets.messagingJwtKey ? [] : mistakeIn(dataDir, 'messaging-jwt-key', isSigningKey, 'all messaging tokens')),
  ];
}

function mistakeIn(dataDir: string, name: string, isGood: (value: string) => boolean, ends: string): string[] {
  const path = join(dataDir, name);
  try {
    const value = read(path);
    if (value === undefined || isGood(value)) return [];
    return [`DATA_DIR: ${path} does not contain a key: restore it from a backup, or remove it, which ends ${ends}`];
  } catch (error) {
    // A mistake of the folder itself is reported only once, elsewhere.
    if (codeOf(error) === 'ENOTDIR') return [];
    return [
      `DATA_DIR: ${path} cannot be read (${codeOf(error) ?? 'unknown error'}): make it a file that the user of this process may read`,
    ];
  }
}

function kept(dataDir: string, name: string, make: () => string): string {
  const path = join(dataDir, name);
  return read(path) ?? create(dataDir, path, make());
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates the key file atomically. If another process was first, returns its key. */
function create(dataDir: string, path: string, value: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${value}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return value;
  } catch (error) {
    const first = read(path);
    if (first === undefined) throw error;
    return first;
  } finally {
    rmSync(draft);
  }
}
