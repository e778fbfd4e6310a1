import { createHash } from 'node:crypto';

const BLOCK_BYTES = 4 * 1_024 * 1_024;

/** Qiniu's content hash, computed as bytes arrive: SHA-1 of a file of one block, else SHA-1 of the blocks' SHA-1s. */
export class Etag {
  private readonly finished: Buffer[] = [];
  private block = createHash('sha1');
  private blockBytes = 0;

  update(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.blockBytes === BLOCK_BYTES) this.finishBlock();
      const part = rest.subarray(0, BLOCK_BYTES - this.blockBytes);
      this.block.update(part);
      this.blockBytes += part.length;
      rest = rest.subarray(part.length);
    }
  }

  digest(): string {
    this.finishBlock();
    const [only, ...more] = this.finished;
    const hash =
      only !== undefined && more.length === 0
        ? [Buffer.of(0x16), only]
        : [Buffer.of(0x96), createHash('sha1').update(Buffer.concat(this.finished)).digest()];
    return Buffer.concat(hash).toString('base64url');
  }

  private finishBlock(): void {
    this.finished.push(this.block.digest());
    this.block = createHash('sha1');
    this.blockBytes = 0;
  }
}
