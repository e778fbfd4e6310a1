import { constants, createWriteStream, type WriteStream } from 'node:fs';
import { lstat, open, readdir, stat, statfs, type FileHandle } from 'node:fs/promises';
import { hasCode, Refusal } from './errors';

export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Returns the time since the last change, in milliseconds: Infinity when the file or folder is gone. */
export async function ageOf(path: string): Promise<number> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: -Infinity }));
  return Date.now() - mtimeMs;
}

/** Flushes a folder, which puts the names of its files on the disk. Some systems cannot flush folders. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** Opens the file first: a stream that opens its file by itself may do so after the file was discarded. */
export async function fileAt(path: string): Promise<WriteStream> {
  const file = await open(path, 'wx', 0o600);
  return createWriteStream(path, { fd: file });
}

export async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.sync().finally(() => file.close());
}

export interface Disk {
  directory: string;
  /** Bytes of the disk that stay free; 0: no limit. */
  minFreeBytes: number;
}

export async function needRoom({ directory, minFreeBytes }: Disk): Promise<void> {
  if (minFreeBytes === 0) return;
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < minFreeBytes) throw noRoom();
}

export async function openPlainly(folder: string, path: string): Promise<FileHandle | undefined> {
  try {
    if (!(await lstat(folder)).isDirectory()) return undefined;
    // O_NONBLOCK: the file may be a pipe, and opening it must not wait for a writer.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENOTDIR')) return undefined;
    throw error;
  }
}

export function storageFailure(error: unknown): unknown {
  return hasCode(error, 'ENOSPC', 'EDQUOT') ? noRoom(error) : error;
}

/** Returns the refusal for a full disk. That passes, so the client may try again later. */
function noRoom(cause?: unknown): Refusal {
  return new Refusal('disk_full', 'there is no room for the image now', { cause, retryAfterSeconds: 60 });
}
