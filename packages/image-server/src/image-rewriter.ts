import { open, stat } from 'node:fs/promises';
import type { DecoderAnswer } from './decoder-process';
import { Decoders } from './decoders';
import { hasCode, Refusal } from './errors';
import type { Queue } from './host';
import type { ImageType } from './image-type';

/** Maximum of all frames together, checked before any is decoded. A photo of 24 million pixels is 6,000 by 4,000. */
const MAX_PIXELS = 25_000_000;
const MAX_FRAMES = 1_000;
const MAX_SECONDS = 10;

/**
 * Decodes an image and re-encodes it: upright, in sRGB, with all frames, and without anything else in the file, such as
 * where a photo was taken.
 */
export class ImageRewriter {
  constructor(
    private readonly queue: Queue,
    private readonly decoders: Pick<Decoders, 'prepare' | 'decode' | 'close'> = new Decoders(),
    private readonly maxSeconds = MAX_SECONDS,
  ) {}

  /** Starts what an image needs, before it has arrived. */
  prepare(): void {
    this.decoders.prepare();
  }

  /** Returns the size of `target` once it is flushed to the disk. Does not begin once the sender has `gone`. */
  async rewrite(userId: string, source: string, type: ImageType, target: string, gone?: AbortSignal): Promise<number> {
    return this.queue.run(userId, () => this.write(source, type, target), { gone });
  }

  async close(): Promise<void> {
    await this.decoders.close();
  }

  private async write(source: string, { mime }: ImageType, target: string): Promise<number> {
    const file = await open(target, 'wx', 0o600);
    try {
      const image = { source, target, mime, maxPixels: MAX_PIXELS, maxFrames: MAX_FRAMES };
      const answer = await this.decoders.decode(image, this.maxSeconds * 1_000).catch(unreadable);
      if (answer.outcome !== 'written') throw refusal(answer);
      await file.sync();
      return (await stat(target)).size;
    } finally {
      await file.close();
    }
  }
}

/** Blames the image when it took too long, but not for a decoder that ended or did not start. */
function unreadable(error: unknown): never {
  if (hasCode(error, 'ETIMEDOUT'))
    throw new Refusal('image_too_slow', 'file: takes too long to be read', { cause: error });
  throw error instanceof Refusal ? error : notReadable(error);
}

function refusal({ outcome, message }: DecoderAnswer): Refusal {
  const cause = new Error(message);
  if (outcome === 'no room')
    return new Refusal('disk_full', 'there is no room for the image now', { cause, retryAfterSeconds: 60 });
  if (outcome === 'too many pixels')
    return new Refusal('image_too_complex', `file: must have at most ${MAX_PIXELS} pixels, in all frames together`);
  if (outcome === 'too many frames')
    return new Refusal('image_too_complex', `file: must have at most ${MAX_FRAMES} frames`);
  return notReadable(cause);
}

function notReadable(cause: unknown): Refusal {
  return new Refusal('not_an_image', 'file: cannot be read as a PNG, JPEG, GIF or WebP image', { cause });
}
