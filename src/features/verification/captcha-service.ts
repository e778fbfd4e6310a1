import { randomBytes, timingSafeEqual, createHash } from 'node:crypto';
import { NotFound } from '../../errors';
import { drawCaptcha } from '../../integrations/captcha/captcha-image';
import type { Caller } from '../audit/caller';
import { checksBy, type Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { CaptchasRepository } from './captchas-repository';

const TTL_SECONDS = 300;

/** Graphical captchas, which raise the limits of send_code for who solves them. */
export class CaptchaService {
  constructor(
    private readonly captchas: CaptchasRepository,
    private readonly limiter: Limiter,
    private readonly limits: Pick<Limits, 'checksPerMinute' | 'checksPerDay'>,
  ) {}

  /** Returns the id of a new one. */
  async create(caller: Caller): Promise<string> {
    await this.limiter.take(caller, ...checksBy(caller, this.limits));
    const id = randomBytes(16).toString('base64url');
    await this.captchas.add({ id, ...(await drawCaptcha()) }, TTL_SECONDS);
    return id;
  }

  async image(id: string): Promise<Buffer> {
    const image = await this.captchas.image(id);
    if (!image) throw new NotFound('no such captcha, or it has expired or been tried');
    return image;
  }

  /** One try, right or wrong, also for tries that arrive together. */
  async solves(id: string, answer: string): Promise<boolean> {
    const expected = await this.captchas.take(id);
    return expected !== undefined && timingSafeEqual(digest(answer), digest(expected));
  }
}

/** People do not see whether a letter is a capital. */
function digest(answer: string): Buffer {
  return createHash('sha256').update(answer.toLowerCase()).digest();
}
