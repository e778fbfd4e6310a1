import { createHash } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { crc32 } from 'node:zlib';
import { Etag } from './etag';

/** Passes bytes on, and computes the sums that Qiniu's protocol reports. Fails the stream if it has too many bytes. */
export class ByteInspector extends Transform {
  private readonly etag = new Etag();
  private readonly md5 = createHash('md5');
  private crc = 0;
  private bytes = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly tooMany: () => Error,
  ) {
    super();
  }

  /** Returns the sums. Call it once the stream has ended. */
  sums(): { bytes: number; etag: string; md5: string; crc32: number } {
    return { bytes: this.bytes, etag: this.etag.digest(), md5: this.md5.digest('hex'), crc32: this.crc };
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    if (this.bytes > this.maxBytes) return done(this.tooMany());
    this.etag.update(chunk);
    this.md5.update(chunk);
    this.crc = crc32(chunk, this.crc);
    done(null, chunk);
  }
}
