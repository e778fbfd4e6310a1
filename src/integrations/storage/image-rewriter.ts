import { open, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { isNativeError } from 'node:util/types';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { KeyedQueue } from '../../database/keyed-queue';
import { withTimeout } from '../../database/timeout';
import { BadRequest, Unavailable } from '../../errors';
import type { ImageType } from './image-type';

/** Of all frames together, before any is decoded. A photo of 24 million has 6,000 by 4,000. */
const MAX_PIXELS = 25_000_000;
const MAX_SECONDS = 10;
/** Half of the processors stay free for everything else. Two, because each takes up to half a gigabyte of memory. */
const AT_ONCE = Math.min(2, Math.max(1, Math.floor(availableParallelism() / 2)));
const WAITING = 50;

// One thread an image, and nothing kept of it. No reader but those of the four types is ever tried.
sharp.concurrency(1);
sharp.cache(false);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadNsgif', 'VipsForeignLoadWebp'],
});

/**
 * Decodes an image and writes it anew: upright, in sRGB, with all frames, and without anything else that the file held,
 * such as where a photo was taken.
 */
export class ImageRewriter {
  private readonly queue = new KeyedQueue(AT_ONCE, WAITING);
  /** So that one user's images do not hold up everybody's. */
  private readonly perUser = new KeyedQueue(1, 30);

  constructor(private readonly maxSeconds = MAX_SECONDS) {}

  /** Returns the number of bytes in `target`, which is on the disk then. */
  async rewrite(userId: string, source: string, type: ImageType, target: string): Promise<number> {
    return this.perUser.run(userId, () => this.queue.run('all', () => this.write(source, type, target)));
  }

  private async write(source: string, type: ImageType, target: string): Promise<number> {
    const file = await open(target, 'wx', 0o600);
    try {
      const picture = await this.opened(source, type);
      await picture
        .timeout({ seconds: this.maxSeconds })
        .toFile(target)
        .catch((error: unknown) => refuse(error));
      await file.sync();
      return (await stat(target)).size;
    } finally {
      await file.close();
    }
  }

  private async opened(source: string, type: ImageType): Promise<Sharp> {
    const picture = sharp(source, { animated: type.animated, failOn: 'error', limitInputPixels: MAX_PIXELS });
    // The library has no limit of its own for what reads headers alone.
    const reading = withTimeout(picture.metadata(), this.maxSeconds * 1_000);
    const { pages = 1 } = await reading.catch((error: unknown): Metadata => refuse(error));
    const upright = pages > 1 ? picture : picture.autoOrient();
    return type.encode(upright);
  }
}

/** The library's errors have a message only. */
function refuse(error: unknown): never {
  const message = isNativeError(error) ? error.message : '';
  if (/no space left|quota exceeded/i.test(message))
    throw new Unavailable('there is no room for the image now', { cause: error, retryAfterSeconds: 60 });
  if (/pixel limit/.test(message))
    throw new BadRequest(`file: must have at most ${MAX_PIXELS} pixels, in all frames together`);
  throw new BadRequest('file: cannot be read as a PNG, JPEG, GIF or WebP image', { cause: error });
}
