import { createReadStream } from 'node:fs';
import type { TransformCallback } from 'node:stream';
import { ByteInspector } from './byte-inspector';
import { Refusal } from './errors';
import { Etag } from './etag';
import { IMAGE_HEAD_BYTES, imageType, type ImageType } from './image-type';

/** Passes an image's bytes on. Fails the stream as soon as it is too large, or is not an image. */
export class ImageInspector extends ByteInspector {
  private head = Buffer.alloc(0);
  private type: ImageType | undefined;

  constructor(maxBytes: number) {
    super(maxBytes, () => new Refusal('image_too_large', `file: must have at most ${maxBytes} bytes`));
  }

  /** Returns the findings. Call it once the stream has ended. */
  result(): { hash: string; crc32: number; type: ImageType } {
    if (this.type === undefined) throw notAnImage();
    const { etag, crc32 } = this.sums();
    return { hash: etag, crc32, type: this.type };
  }

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void {
    if (this.looksLikeImage(chunk)) super._transform(chunk, encoding, done);
    else done(notAnImage());
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

function notAnImage(): Refusal {
  return new Refusal('not_an_image', 'file: must be a PNG, JPEG, GIF or WebP image');
}
