import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf } from '../base/errors';
import type { Config } from '../config/config';

const BLOCK = 4_096;

/**
 * Returns folders that the service must write to but cannot, each with a remedy. Checked at the start: the first image
 * may come weeks later. Creates no folder, since the start may still fail for another reason.
 */
export function folderMistakes(config: Config): string[] {
  const { dataDir, storage, sms } = config;
  const directory = storage.provider === 'local' && storage.address === undefined ? storage.directory : undefined;
  const images = directory === undefined ? [] : ['uploaded images'];
  const kept = [...(config.production ? [] : keptInDevelopment(config)), ...images];
  const mistakes = kept.length > 0 ? mistakeIn('DATA_DIR', dataDir, kept) : [];
  if (mistakes.length === 0 && directory !== undefined) mistakes.push(...mistakeIn('DATA_DIR', directory, images));
  const { file } = sms.senders;
  if (file && !isWritable(file.path)) mistakes.push(...mistakeIn('SMS_FILE', dirname(file.path), ['messages']));
  return mistakes;
}

/**
 * Makes DATA_DIR, so that a backup finds it before the first image. A process that keeps nothing there also runs where it
 * cannot be made.
 */
export function makeDataDir({ dataDir }: Config): void {
  if (whyUnwritable(resolve(dataDir)) === undefined) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}

/** Returns what development keeps in DATA_DIR. In production each must be set instead. */
function keptInDevelopment({ secrets }: Config): string[] {
  return [
    ...(secrets.databaseUrl ? [] : ['the embedded database']),
    ...(secrets.session && secrets.messagingJwtKey ? [] : ['the keys of this installation']),
  ];
}

/** Returns whether the path can be written, as an existing file in a read-only folder, or a device, may be. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function mistakeIn(name: string, folder: string, kept: string[]): string[] {
  const code = whyUnwritable(resolve(folder));
  if (code === undefined) return [];
  return [`${name}: ${folder} cannot be written (${code}), where ${listed(kept)} would be kept: ${remedy(name, code)}`];
}

function listed(things: string[]): string {
  return things.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

function remedy(name: string, code: string): string {
  const another = `set ${name} to ${name === 'SMS_FILE' ? 'a file in ' : ''}a folder that this user may write`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk or the quota is full: make room, or ${another}`;
  if (code === 'EROFS') return `it is mounted read-only: mount it for writing, or ${another}`;
  if (code === 'ENOENT') return `a folder cannot be created there: ${another}`;
  if (code === 'ENOTDIR') return `a part of its path is a file, not a folder: ${another}`;
  return `give it to user ${process.getuid?.() ?? 'of this process'} (chown), or ${another}`;
}

/** Returns why the folder cannot be written. Tests it or, if it is new, the nearest existing folder above. */
function whyUnwritable(folder: string): string | undefined {
  try {
    if (!statSync(folder).isDirectory()) return 'ENOTDIR';
    tryToWrite(folder);
    return undefined;
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? whyNotToBeMade(dirname(folder)) : (codeOf(error) ?? 'unknown error');
  }
}

function tryToWrite(folder: string): void {
  const path = join(folder, `.writable-${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(path, Buffer.alloc(BLOCK), { flag: 'wx', mode: 0o600 });
  } finally {
    rmSync(path, { force: true });
  }
}

function whyNotToBeMade(above: string): string | undefined {
  if (!existsSync(above) && dirname(above) !== above) return whyNotToBeMade(dirname(above));
  try {
    if (!statSync(above).isDirectory()) return 'ENOTDIR';
    // Rights do not tell about /proc, where folders cannot be created, and Node would retry for ever.
    rmdirSync(mkdtempSync(join(above, '.writable-')));
    return undefined;
  } catch (error) {
    return codeOf(error) ?? 'unknown error';
  }
}
