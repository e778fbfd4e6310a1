import { createReadStream } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import { crc32 } from 'node:zlib';
import { BadRequest } from '../../errors';
import { Etag } from './etag';
import { IMAGE_HEAD_BYTES, imageType, type ImageType } from './image-type';
import { ImageTooLarge } from './upload-errors';

/** Passes an image's bytes on. Fails the stream as soon as it is no image, or too large. */
export class ImageInspector extends Transform {
  private readonly etag = new Etag();
  private head = Buffer.alloc(0);
  private crc = 0;
  private bytes = 0;
  private type: ImageType | undefined;

  constructor(private readonly maxBytes: number) {
    super();
  }

  /** Once the stream has ended. */
  result(): { hash: string; crc32: number; type: ImageType } {
    if (this.type === undefined) throw notAnImage();
    return { hash: this.etag.digest(), crc32: this.crc, type: this.type };
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    if (this.bytes > this.maxBytes) return done(new ImageTooLarge(`file: must have at most ${this.maxBytes} bytes`));
    if (!this.looksLikeImage(chunk)) return done(notAnImage());
    this.etag.update(chunk);
    this.crc = crc32(chunk, this.crc);
    done(null, chunk);
  }

  private looksLikeImage(chunk: Buffer): boolean {
    if (this.type !== undefined) return true;
    this.head = Buffer.concat([this.head, chunk.subarray(0, IMAGE_HEAD_BYTES - this.head.length)]);
    this.type = imageType(this.head);
    return this.type !== undefined || this.head.length < IMAGE_HEAD_BYTES;
  }
}

export async function etagOf(path: string): Promise<string> {
  const etag = new Etag();
  const chunks: AsyncIterable<Buffer> = createReadStream(path);
  for await (const chunk of chunks) etag.update(chunk);
  return etag.digest();
}

function notAnImage(): BadRequest {
  return new BadRequest('file: must be a PNG, JPEG, GIF or WebP image');
}
