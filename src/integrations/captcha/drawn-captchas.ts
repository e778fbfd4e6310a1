import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { drawCaptcha } from './captcha-image';
import type { Captchas, NewCaptcha, Verdict } from './captchas';

export interface KeptCaptcha {
  id: string;
  answer: string;
  png: Buffer;
}

/** Keeps captchas until they are tried or expire. */
export interface KeptCaptchas {
  add(captcha: KeptCaptcha, ttlSeconds: number): Promise<void>;
  image(id: string): Promise<Buffer | undefined>;
  /** Forgets the captcha and returns its answer. */
  take(id: string): Promise<string | undefined>;
}

const TTL_SECONDS = 300;
/** Other paths name no captcha, and may hold what PostgreSQL cannot read. */
const ID = /^[A-Za-z0-9_-]{22}$/;

/** Pictures of letters. They need no vendor, and are a speed bump at best: programs read such pictures. */
export class DrawnCaptchas implements Captchas {
  /** Whoever reads them by a program does so for any number of phones. */
  readonly vouchesFor = 'phone';
  readonly checkedOutside = false;

  constructor(private readonly kept: KeptCaptchas) {}

  async create(): Promise<NewCaptcha> {
    const id = randomBytes(16).toString('base64url');
    await this.kept.add({ id, ...(await drawCaptcha()) }, TTL_SECONDS);
    return { verifyId: id, path: `/captcha/${id}.png` };
  }

  async image(id: string): Promise<Buffer | undefined> {
    return ID.test(id) ? this.kept.image(id) : undefined;
  }

  /** One try, also for tries that arrive together. */
  async check(id: string, answer: string): Promise<Verdict> {
    const expected = await this.kept.take(id);
    return expected !== undefined && timingSafeEqual(digest(answer), digest(expected)) ? 'right' : 'wrong';
  }

  areAway(): Promise<boolean> {
    return Promise.resolve(false);
  }
}

/** Capitals and small letters are the same: in the picture they look alike. */
function digest(answer: string): Buffer {
  return createHash('sha256').update(answer.toLowerCase()).digest();
}
