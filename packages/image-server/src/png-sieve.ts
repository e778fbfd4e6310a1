import { Transform, type TransformCallback } from 'node:stream';
import { Refusal } from './errors';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Length and type of a chunk. */
const HEAD_BYTES = 8;
const CRC_BYTES = 4;
/** Maximum chunks of a file. Encoders put eight kilobytes or more into one chunk. */
const MAX_CHUNKS = 20_000;

/**
 * Chunks that make up the picture, each with its maximum bytes. A deflated profile of 4 KiB inflates to at most 4 MB;
 * profiles of cameras and screens have less than 1 KiB.
 */
const KEPT: ReadonlyMap<string, number> = new Map([
  ['IHDR', 13],
  ['PLTE', 768],
  ['tRNS', 256],
  ['gAMA', 4],
  ['cHRM', 32],
  ['sRGB', 1],
  ['sBIT', 4],
  ['iCCP', 4_096],
  ['eXIf', 65_536],
  ['IDAT', Infinity],
  ['IEND', 0],
]);

/**
 * Passes on the chunks of a PNG that make up the picture, each type once, except pixels. Drops all others unread: the
 * decoder would inflate texts, and a megabyte of them can hold a gigabyte. Files of other types pass unchanged.
 */
export class PngSieve extends Transform {
  /** The signature, then the head of a chunk, as far as it has arrived. */
  private head = Buffer.alloc(0);
  private hasBegun = false;
  private readonly kept = new Set<string>();
  /** Bytes of the chunk that are still to come after its head. */
  private bytesLeft = 0;
  private keeps = true;
  private chunks = 0;

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const kept: Buffer[] = [];
    for (let rest = piece; rest.length > 0 && this.chunks <= MAX_CHUNKS;)
      rest = this.bytesLeft > 0 ? this.takeContent(rest, kept) : this.takeHead(rest, kept);
    if (this.chunks > MAX_CHUNKS)
      done(new Refusal('image_too_complex', `file: must have at most ${MAX_CHUNKS} chunks`));
    else done(null, Buffer.concat(kept));
  }

  /** Returns the rest of the piece. */
  private takeHead(piece: Buffer, kept: Buffer[]): Buffer {
    const rest = piece.subarray(HEAD_BYTES - this.head.length);
    const head = Buffer.concat([this.head, piece], Math.min(HEAD_BYTES, this.head.length + piece.length));
    this.head = head.length < HEAD_BYTES ? head : Buffer.alloc(0);
    if (head.length < HEAD_BYTES) return rest;
    if (this.hasBegun) this.beginChunk(head.readUInt32BE(), head.toString('latin1', 4));
    else this.begin(head);
    if (this.keeps) kept.push(head);
    return rest;
  }

  private takeContent(piece: Buffer, kept: Buffer[]): Buffer {
    const content = piece.subarray(0, this.bytesLeft);
    if (this.keeps) kept.push(content);
    this.bytesLeft -= content.length;
    if (this.bytesLeft === 0 && this.kept.has('IEND')) this.setForRest(false);
    return piece.subarray(content.length);
  }

  private begin(head: Buffer): void {
    this.hasBegun = true;
    if (!head.equals(SIGNATURE)) this.setForRest(true);
  }

  private beginChunk(bytes: number, type: string): void {
    this.chunks += 1;
    const isAgain = this.kept.has(type) && type !== 'IDAT';
    this.keeps = bytes <= (KEPT.get(type) ?? -1) && !isAgain;
    this.bytesLeft = bytes + CRC_BYTES;
    if (this.keeps) this.kept.add(type);
  }

  /** Keeps or drops everything up to the end of the file. */
  private setForRest(keeps: boolean): void {
    this.keeps = keeps;
    this.bytesLeft = Infinity;
  }
}
