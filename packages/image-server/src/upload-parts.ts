import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ByteInspector } from './byte-inspector';
import { ageOf, fileAt, flushFile, namesIn, needRoom, storageFailure, type Disk } from './disk';
import { hasCode, partsUnknown, Refusal } from './errors';
import type { Incoming } from './incoming';

/** An incomplete upload. Finding it takes its user, its version of the protocol, and its id. */
export interface PartedUpload {
  userId: string;
  version: 'v1' | 'v2';
  id: string;
  /** Whether a request is making an image of it. To all other requests it is then unknown. */
  isClaimed?: boolean;
}

export interface Part {
  /** In version 1: the offset in its block. The parts are joined in the order of their numbers. */
  number: number;
  bytes: number;
  etag: string;
}

/** An upload, and the parts of it that go into the image. */
export interface Piece {
  upload: PartedUpload;
  parts: readonly Part[];
}

export interface ReceivedPart extends Part {
  md5: string;
  crc32: number;
}

interface Wanted {
  number: number;
  mostBytes?: number;
  md5?: string | undefined;
}

/** An upload without a new part for this time is unknown. The next sweep, at most ten minutes later, removes it. */
export const PARTS_LIVE_MS = 45 * 60_000;

/** No user id contains a dot, so none can name this folder. */
const PARTS = '.parts';
const UPLOAD_ID = /^[0-9a-f-]{36}$/;

/** Incomplete uploads of full size per user. SDKs abandon cancelled uploads, and blocks whose answer was lost. */
const UPLOADS_PER_USER = 10;
/** Minimum that a file or a folder counts as. */
const LEAST_BYTES = 65_536;

/**
 * The parts of incomplete uploads, as `<user id>/<version>.<upload id>/<number>.<bytes>.<etag>`. Their names are the
 * only record of them, so that instances which share the disk also share the uploads. The folder of an upload that is
 * being completed ends in `.claimed`.
 */
export class UploadParts {
  private readonly directory: string;
  private readonly mostBytesPerUser: number;

  constructor(
    private readonly options: Disk & { maxBytes: number },
    private readonly incoming: Incoming,
  ) {
    this.directory = join(options.directory, PARTS);
    this.mostBytesPerUser = UPLOADS_PER_USER * (options.maxBytes + 2 * LEAST_BYTES);
  }

  async begin(userId: string, version: 'v1' | 'v2'): Promise<PartedUpload> {
    const upload = { userId, version, id: randomUUID() };
    if ((await this.roomOf(userId)) < LEAST_BYTES) throw tooMuch();
    try {
      await mkdir(this.folderOf(upload), { recursive: true, mode: 0o700 });
    } catch (error) {
      throw storageFailure(error);
    }
    return upload;
  }

  /** Stores a part. It replaces an earlier part of the same number. */
  async add(upload: PartedUpload, { number, md5, ...wanted }: Wanted, source: Readable): Promise<ReceivedPart> {
    const most = Math.min(wanted.mostBytes ?? Infinity, await this.bytesLeft(upload, number));
    const room = await this.roomOf(upload.userId);
    const inspector = new ByteInspector(Math.min(most, room), () => (room < most ? tooMuch() : tooLarge(most)));
    const path = await this.incoming.newPath();
    try {
      await needRoom(this.options);
      await pipeline(source, inspector, await fileAt(path));
      const sums = inspector.sums();
      if (md5 !== undefined && md5 !== sums.md5)
        throw new Refusal('checksum_wrong', 'Content-MD5: does not match the bytes that arrived');
      await flushFile(path);
      await this.moveIn(path, upload, { number, ...sums });
      return { number, ...sums };
    } catch (error) {
      throw storageFailure(error);
    } finally {
      await this.incoming.discard(path);
    }
  }

  /** Returns the parts in the order of their numbers. Throws when the upload is unknown. */
  async list(upload: PartedUpload): Promise<Part[]> {
    const folder = this.folderOf(upload);
    if ((await ageOf(folder)) > PARTS_LIVE_MS) throw partsUnknown(upload.version);
    return (await namesIn(folder)).map(partNamed).sort((one, other) => one.number - other.number);
  }

  async *read(upload: PartedUpload, parts: readonly Part[]): AsyncGenerator<Buffer> {
    try {
      for (const part of parts) yield* createReadStream(this.pathOf(upload, part)) as AsyncIterable<Buffer>;
    } catch (error) {
      throw hasCode(error, 'ENOENT') ? partsUnknown(upload.version) : error;
    }
  }

  /** Claims all uploads or none. One of several simultaneous requests succeeds; to the others they are unknown. */
  async claim(pieces: Piece[]): Promise<Piece[]> {
    const claimed: Piece[] = [];
    try {
      for (const { upload, parts } of pieces) {
        const own = { ...upload, isClaimed: true };
        await this.move(this.folderOf(upload), this.folderOf(own), upload);
        claimed.push({ upload: own, parts });
      }
      return claimed;
    } catch (error) {
      await this.unclaim(claimed);
      throw error;
    }
  }

  /** Releases the uploads. A later sweep removes those that cannot be released. */
  async unclaim(claimed: Piece[]): Promise<void> {
    for (const { upload } of claimed)
      await rename(this.folderOf(upload), this.folderOf({ ...upload, isClaimed: false })).catch(() => {});
  }

  async remove(upload: PartedUpload): Promise<void> {
    await this.discard(this.folderOf(upload));
  }

  async sweep(): Promise<void> {
    for (const userId of await namesIn(this.directory)) {
      for (const name of await namesIn(join(this.directory, userId))) {
        const folder = join(this.directory, userId, name);
        if ((await ageOf(folder)) > PARTS_LIVE_MS) await this.discard(folder);
      }
      // Fails unless the folder is empty.
      await rmdir(join(this.directory, userId)).catch(() => {});
    }
  }

  /** Removes a folder in one step, so that no part is added to a half-removed one. */
  private async discard(folder: string): Promise<void> {
    const path = await this.incoming.newPath();
    try {
      await rename(folder, path);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    } finally {
      await this.incoming.discard(path);
    }
  }

  /** Moves a file into its upload. Then checks the limits again: other parts may have arrived at the same time. */
  private async moveIn(file: string, upload: PartedUpload, part: Part): Promise<void> {
    const path = this.pathOf(upload, part);
    await this.move(file, path, upload);
    for (const other of await this.list(upload))
      if (other.number === part.number && nameOf(other) !== nameOf(part))
        await rm(this.pathOf(upload, other), { force: true });
    const isTooLarge = (await this.bytesLeft(upload, part.number)) < part.bytes;
    if (!isTooLarge && (await this.roomOf(upload.userId)) >= 0) return;
    await rm(path, { force: true });
    throw isTooLarge ? tooLarge(this.options.maxBytes) : tooMuch();
  }

  private async move(from: string, to: string, { version }: PartedUpload): Promise<void> {
    await rename(from, to).catch((error: unknown) => {
      throw hasCode(error, 'ENOENT') ? partsUnknown(version) : error;
    });
  }

  /** Returns the bytes that a part of this number may have. */
  private async bytesLeft(upload: PartedUpload, number: number): Promise<number> {
    const others = (await this.list(upload)).filter((part) => part.number !== number);
    return this.options.maxBytes - others.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Returns the disk space that incomplete uploads of the user may still take. */
  private async roomOf(userId: string): Promise<number> {
    const folder = join(this.directory, userId);
    let room = this.mostBytesPerUser;
    for (const name of await namesIn(folder)) {
      room -= LEAST_BYTES;
      for (const { bytes } of (await namesIn(join(folder, name))).map(partNamed)) room -= Math.max(bytes, LEAST_BYTES);
    }
    return room;
  }

  private folderOf({ userId, version, id, isClaimed }: PartedUpload): string {
    if (!UPLOAD_ID.test(id)) throw partsUnknown(version);
    return join(this.directory, userId, `${version}.${id}${isClaimed ? '.claimed' : ''}`);
  }

  private pathOf(upload: PartedUpload, part: Part): string {
    return join(this.folderOf(upload), nameOf(part));
  }
}

function nameOf({ number, bytes, etag }: Part): string {
  return `${number}.${bytes}.${etag}`;
}

function partNamed(name: string): Part {
  const [number, bytes, etag = ''] = name.split('.');
  return { number: Number(number), bytes: Number(bytes), etag };
}

function tooLarge(mostBytes: number): Refusal {
  return new Refusal('image_too_large', `file: has more bytes than the ${mostBytes} that are left for this part`);
}

function tooMuch(): Refusal {
  return new Refusal('too_many_incomplete', 'too many incomplete uploads: complete them, or try again later', {
    retryAfterSeconds: PARTS_LIVE_MS / 1_000,
  });
}
