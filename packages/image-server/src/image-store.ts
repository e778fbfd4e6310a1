import type { ReadStream } from 'node:fs';
import { link, lstat, mkdir, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileAt, flushFolder, namesIn, needRoom, openPlainly, storageFailure, type Disk } from './disk';
import { hasCode, Refusal } from './errors';
import type { Caller, Counts } from './host';
import type { ImageBook, ImageEntry, ImageName } from './image-book';
import { ImageInspector, etagOf } from './image-inspector';
import { IMAGE_NAME, nameIn, USER_ID } from './image-key';
import type { ImageRewriter } from './image-rewriter';
import { IMAGE_HEAD_BYTES, imageType, type ImageType } from './image-type';
import { Incoming } from './incoming';
import { PngSieve } from './png-sieve';
import { UploadParts } from './upload-parts';
import { verifyUploadToken, type UploadGrant } from './upload-token';

export interface StoreOptions extends Disk {
  /** Secrets, any of which may have signed an upload token. */
  secrets: string[];
  maxBytes: number;
  /** Maximum of all images of a user; 0: no limit. */
  maxBytesPerUser: number;
}

/** An upload that is complete on the disk, but not yet visible as an image. */
export interface ReceivedImage {
  path: string;
  hash: string;
  crc32: number;
  type: ImageType;
}

export interface Sender {
  caller: Caller;
  /** Aborted once its client has disconnected: an image that still waits is then not decoded. */
  gone: AbortSignal;
}

export interface KeptImage {
  key: string;
  /** Hash of the file as it was sent. */
  hash: string;
}

export interface StoredImage {
  mime: string;
  bytes: number;
  content: ReadStream;
}

/** No user id contains a dot, so none can name this folder. */
const INCOMING = '.incoming';
const ADOPT_EVERY_MS = 86_400_000;
/** Uploads that an image counts as if it takes too long to decode: it has used the time of many. */
const COUNTS_AS = 10;

/** Images on this server's disk, as `<directory>/<user id>/<name>`. Paths are only built from validated names. */
export class ImageStore {
  readonly maxBytes: number;
  readonly parts: UploadParts;
  private readonly incoming: Incoming;
  private adoptedAt = 0;

  constructor(
    private readonly options: StoreOptions,
    private readonly book: ImageBook,
    private readonly rewriter: ImageRewriter,
    /** Counts images that were stored. */
    private readonly counts: Counts,
  ) {
    this.maxBytes = options.maxBytes;
    this.incoming = new Incoming(join(options.directory, INCOMING));
    this.parts = new UploadParts(options, this.incoming);
  }

  /** Returns what the token allows, and counts an upload of its user. */
  async admit(token: string, caller: Caller): Promise<UploadGrant> {
    const grant = verifyUploadToken(this.options.secrets, token);
    await this.book.admit(grant, caller);
    this.rewriter.prepare();
    return grant;
  }

  /** Like `admit`, but does not count an upload: another step of the same upload counts. */
  async admitPart(token: string, caller: Caller): Promise<UploadGrant> {
    const grant = verifyUploadToken(this.options.secrets, token);
    await this.book.admitPart(grant, caller);
    return grant;
  }

  /** Writes to a file without a public address. The caller must always `discard` it, also after `keep`. */
  async receive(source: Readable, maxBytes = this.maxBytes): Promise<ReceivedImage> {
    const inspector = new ImageInspector(Math.min(maxBytes, this.maxBytes));
    const path = await this.incoming.newPath();
    try {
      await needRoom(this.options);
      await pipeline(source, inspector, new PngSieve(), await fileAt(path));
      return { path, ...inspector.result() };
    } catch (error) {
      await this.discard({ path });
      throw storageFailure(error);
    }
  }

  /**
   * Re-encodes the image and stores it under its key, or one made of its hash. Accepts an identical image again, and
   * refuses another one under a used key. An image that takes too long to decode counts as ten uploads.
   */
  async keep(
    received: ReceivedImage,
    grant: UploadGrant,
    key: string | undefined,
    { caller, gone }: Sender,
  ): Promise<KeptImage> {
    const name = key === undefined ? received.hash + received.type.extension : nameIn(key, grant);
    const path = await this.incoming.newPath();
    try {
      const bytes = await this.rewriter.rewrite(grant.userId, received.path, received.type, path, gone);
      if (bytes > 2 * this.maxBytes) throw new Refusal('image_too_large', 'file: is too large after re-encoding');
      const entry = { userId: grant.userId, name, bytes, hash: received.hash };
      const entered = await this.book.enter(entry, grant, this.options.maxBytesPerUser);
      await this.publish(path, entry, entered);
      if (!(await this.book.has(entry))) await this.withdraw(entry);
      this.counts.add('stored');
      return { key: `${entry.userId}/${name}`, hash: entry.hash };
    } catch (error) {
      if (error instanceof Refusal && error.reason === 'image_too_slow')
        await this.book.charge(grant, COUNTS_AS - 1, caller);
      throw storageFailure(error);
    } finally {
      await this.discard({ path });
    }
  }

  /** Gives the file its name, in one step. */
  private async publish(path: string, image: ImageEntry, entered: 'new' | 'known'): Promise<void> {
    const folder = join(this.options.directory, image.userId);
    const target = this.pathOf(image);
    try {
      const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
      // Unlike a rename, a link never replaces a file, however many uploads race for the key.
      await link(path, target);
      await flushFolder(folder);
      if (isNew) await flushFolder(this.options.directory);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
      if (entered === 'known' || (await etagOf(target)) === (await etagOf(path))) return;
      // The file that has this name is not in the book. A later sweep finds and enters it.
      await this.book.remove(image);
      throw new Refusal('key_taken', 'key: already holds another image, choose a new name');
    }
  }

  /** Removes the file and refuses the image if its entry was removed in the meantime, as when the account is closed. */
  private async withdraw(image: ImageName): Promise<never> {
    await this.removeFile(image);
    throw new Refusal('image_gone', 'the image was removed while it was being stored: send it again');
  }

  async discard({ path }: { path: string }): Promise<void> {
    await this.incoming.discard(path);
  }

  /** Returns the image, or undefined unless it is a plain file of an image type. Does not follow links. */
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

  async sweep(): Promise<void> {
    await this.incoming.sweep();
    await this.parts.sweep();
    if (Date.now() - this.adoptedAt > ADOPT_EVERY_MS) await this.adopt();
    await this.removeUnused();
  }

  /** Removes images that are due and shown nowhere, of all users or of one. */
  async removeUnused(userId?: string): Promise<void> {
    for (;;) {
      const { checked, removed } = await this.book.removeUnused(userId);
      for (const image of removed) await this.removeFile(image);
      if (checked === 0) return;
    }
  }

  /** Ends the decoders, and removes unfinished files. Call it before the process ends. */
  async close(): Promise<void> {
    await this.rewriter.close();
    await this.incoming.close();
  }

  /** Enters images of an older release, and images whose entry was removed just before the process was killed. */
  private async adopt(): Promise<void> {
    for (const userId of await namesIn(this.options.directory)) {
      if (!USER_ID.test(userId)) continue;
      const found: ImageEntry[] = [];
      for (const name of await namesIn(join(this.options.directory, userId))) {
        const status = await lstat(this.pathOf({ userId, name })).catch(() => undefined);
        if (status?.isFile() && IMAGE_NAME.test(name)) found.push({ userId, name, bytes: status.size, hash: '' });
      }
      if (found.length > 0) await this.book.adopt(found);
    }
    this.adoptedAt = Date.now();
  }

  /** Puts the file back if it was uploaded again after its entry was removed: that upload may have found it there. */
  private async removeFile(image: ImageName): Promise<void> {
    const path = await this.incoming.newPath();
    try {
      await rename(this.pathOf(image), path);
      // If the book cannot be asked, the file stays. A later sweep finds it.
      if (await this.book.has(image).catch(() => true)) await link(path, this.pathOf(image));
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'EEXIST')) throw error;
    } finally {
      await this.discard({ path });
    }
  }

  private pathOf({ userId, name }: ImageName): string {
    return join(this.options.directory, userId, name);
  }
}

async function head(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(IMAGE_HEAD_BYTES), 0, IMAGE_HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
