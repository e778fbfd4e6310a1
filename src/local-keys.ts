import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config';
import { codeOf } from './errors';
import { generateSigningKey } from './integrations/messaging/signing-key';

export interface Keys {
  sessionSecrets: string[];
  messagingJwtKey: string;
}

/** The keys of this installation: those given, and in development others that are made once and kept in DATA_DIR. */
export function loadKeys({ dataDir, secrets }: Pick<Config, 'dataDir' | 'secrets'>): Keys {
  return {
    sessionSecrets: secrets.session ?? [kept(dataDir, 'session-secret', () => randomBytes(32).toString('hex'))],
    messagingJwtKey: secrets.messagingJwtKey ?? kept(dataDir, 'messaging-jwt-key', generateSigningKey),
  };
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

/** Appears whole or not at all, and whoever comes second takes the first one's. */
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
