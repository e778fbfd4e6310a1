import { randomUUID } from 'node:crypto';
import { constants, createWriteStream, type ReadStream, type WriteStream } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf, Unavailable } from '../../errors';
import { ImageInspector, etagOf } from './image-inspector';
import type { ImageStorage, UploadToken } from './image-storage';
import { IMAGE_HEAD_BYTES, imageType, type ImageType } from './image-type';
import { signUploadToken, verifyUploadToken, type UploadGrant } from './local-upload-token';
import { KeyTaken } from './upload-errors';

export interface LocalStorageOptions {
  directory: string;
  /** Signs the upload tokens. */
  secret: string;
  maxBytes: number;
}

/** An upload that is complete on the disk, and not yet an image that anyone can see. */
export interface ReceivedImage {
  path: string;
  hash: string;
  type: ImageType;
}

export interface StoredImage {
  mime: string;
  bytes: number;
  content: ReadStream;
}

/** No user id holds a dot, so none can name this folder. */
const INCOMING = '.incoming';
const STALE_MS = 3_600_000;

/**
 * Images on this server's disk, as `<directory>/<user id>/<name>`. Every path is built from names that were checked.
 */
export class LocalImageStorage implements ImageStorage {
  readonly maxBytes: number;
  private readonly incoming: string;

  constructor(private readonly options: LocalStorageOptions) {
    this.maxBytes = options.maxBytes;
    this.incoming = join(options.directory, INCOMING);
  }

  uploadToken(userId: string, publicUrl: string): UploadToken {
    const token = signUploadToken(this.options.secret, userId, this.maxBytes);
    return { target: 'local', domain: `${publicUrl.replace(/\/+$/, '')}/files`, token };
  }

  verify(token: string): UploadGrant {
    return verifyUploadToken(this.options.secret, token);
  }

  /** Writes to a file without an address. The caller must `discard` it in any case, also after `keep`. */
  async receive(source: Readable, grant: UploadGrant): Promise<ReceivedImage> {
    const path = join(this.incoming, randomUUID());
    const inspector = new ImageInspector(Math.min(grant.maxBytes, this.maxBytes));
    try {
      await mkdir(this.incoming, { recursive: true, mode: 0o700 });
      // Flushed, because a key can never be written again: a crash must not leave an empty image under it.
      await pipeline(source, inspector, await fileAt(path));
      return { path, ...inspector.result() };
    } catch (error) {
      await this.discard({ path });
      throw storageFailure(error);
    }
  }

  /** Stores the image under its key, in one step. The same image again is fine; another one is refused. */
  async keep(received: ReceivedImage, userId: string, name: string): Promise<void> {
    const folder = join(this.options.directory, userId);
    const path = join(folder, name);
    try {
      const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
      // Unlike a rename, a link never replaces a file, however many uploads race for the key.
      await link(received.path, path);
      await flushFolder(folder);
      if (isNew) await flushFolder(this.options.directory);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw storageFailure(error);
      if ((await etagOf(path)) !== received.hash) throw new KeyTaken('key: holds another image, take a new name');
    }
  }

  async discard({ path }: { path: string }): Promise<void> {
    await rm(path, { force: true });
  }

  /** The image, or undefined when there is no plain image file. Follows no link. */
  async open(userId: string, name: string): Promise<StoredImage | undefined> {
    const folder = join(this.options.directory, userId);
    const file = await openPlainly(folder, join(folder, name));
    if (file === undefined) return undefined;
    try {
      const status = await file.stat();
      const type = status.isFile() ? imageType(await head(file)) : undefined;
      if (type !== undefined)
        return { mime: type.mime, bytes: status.size, content: file.createReadStream({ start: 0 }) };
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return undefined;
  }

  /** Deletes uploads whose process has ended. Uploads under way, also of other instances, are younger. */
  async sweep(): Promise<void> {
    for (const name of await namesIn(this.incoming)) {
      const path = join(this.incoming, name);
      const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Infinity }))).mtimeMs;
      if (age > STALE_MS) await this.discard({ path });
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** A file's name is on the disk once its folder is flushed. Some systems cannot flush folders. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** Opens the file at once: a stream that opens its file by itself may do so after the file was discarded. */
async function fileAt(path: string): Promise<WriteStream> {
  const file = await open(path, 'wx', 0o600);
  return createWriteStream(path, { fd: file, flush: true });
}

async function openPlainly(folder: string, path: string): Promise<FileHandle | undefined> {
  try {
    if (!(await lstat(folder)).isDirectory()) return undefined;
    // O_NONBLOCK: opening a pipe that someone left here must not wait for its other end.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function head(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(IMAGE_HEAD_BYTES), 0, IMAGE_HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** A full disk passes; the client may try again later. */
function storageFailure(error: unknown): unknown {
  const full = hasCode(error, 'ENOSPC', 'EDQUOT');
  return full ? new Unavailable('there is no room for the image now', { cause: error, retryAfterSeconds: 60 }) : error;
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(error) ?? '');
}
