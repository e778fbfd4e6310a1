import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { forAll } from '../../../load/attempt';
import type { Queue } from '../../../load/queue';
import { drawCaptcha } from './captcha-image';
import type { Captchas, NewCaptcha, Verdict } from '../captchas';

export interface KeptCaptcha {
  id: string;
  answer: string;
  png: Buffer;
}

/** Keeps captchas until they are tried or expire. */
export interface KeptCaptchas {
  add(captcha: KeptCaptcha, ttlSeconds: number): Promise<void>;
  image(id: string): Promise<Buffer | undefined>;
  /** Deletes the captcha, and returns its answer. */
  take(id: string): Promise<string | undefined>;
}

const TTL_SECONDS = 300;
/** Time for which all clients get the same captcha, if answers are ignored. */
const SHARED_MS = (TTL_SECONDS * 1_000) / 2;
/** Form of ids. Other paths may hold characters that PostgreSQL rejects. */
const ID = /^[A-Za-z0-9_-]{22}$/;

/** Pictures of letters. They need no vendor, but are a speed bump at best: programs can read them. */
export class DrawnCaptchas implements Captchas {
  /** Not the address: a program that reads captchas does so for any number of phones. */
  readonly vouchesFor = 'phone';
  readonly goFirst = false;
  readonly checkedOutside = false;

  private shared: Promise<NewCaptcha> | undefined;
  private sharedUntil = 0;

  constructor(
    private readonly kept: KeptCaptchas,
    private readonly drawing: Queue,
    private readonly answers: 'checked' | 'ignored' = 'checked',
    private readonly now = () => performance.now(),
  ) {}

  async create(address: string): Promise<NewCaptcha> {
    if (this.answers === 'checked') return this.draw(address);
    if (this.shared === undefined || this.now() >= this.sharedUntil)
      this.shared = forAll(() => this.drawForAll(address));
    return this.shared;
  }

  async image(id: string): Promise<Buffer | undefined> {
    return ID.test(id) ? this.kept.image(id) : undefined;
  }

  /** Checks an answer. Only one try counts, even of tries that arrive at the same time. */
  async check(id: string, answer: string): Promise<Verdict> {
    const expected = await this.kept.take(id);
    return expected !== undefined && timingSafeEqual(digest(answer), digest(expected)) ? 'right' : 'wrong';
  }

  areAway(): Promise<boolean> {
    return Promise.resolve(false);
  }

  private async drawForAll(address: string): Promise<NewCaptcha> {
    this.sharedUntil = this.now() + SHARED_MS;
    try {
      return await this.draw(address);
    } catch (error) {
      this.sharedUntil = 0;
      throw error;
    }
  }

  private async draw(address: string): Promise<NewCaptcha> {
    const id = randomBytes(16).toString('base64url');
    const picture = await this.drawing.run(address, drawCaptcha);
    await this.kept.add({ id, ...picture }, TTL_SECONDS);
    return { verifyId: id, path: `/captcha/${id}.png` };
  }
}

/** Ignores case: in the picture, capitals and small letters look alike. */
function digest(answer: string): Buffer {
  return createHash('sha256').update(answer.toLowerCase()).digest();
}
