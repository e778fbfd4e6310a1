import { randomBytes, timingSafeEqual, createHash } from 'node:crypto';
import type { Caller } from '../../caller';
import { NotFound } from '../../errors';
import { drawCaptcha } from '../../integrations/captcha/captcha-image';
import { checksBy, type Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { CaptchasRepository } from './captchas-repository';

const TTL_SECONDS = 300;
/** Other paths name no captcha, and may hold what PostgreSQL cannot read. */
const ID = /^[A-Za-z0-9_-]{22}$/;

/** Graphical captchas. A solved one raises the limits of send_code. */
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
    const image = ID.test(id) ? await this.captchas.image(id) : undefined;
    if (!image) throw new NotFound('no such captcha, or it has expired or been tried');
    return image;
  }

  /** Whether the answer is right. There is one try, also for tries that arrive together. */
  async check(id: string, answer: string): Promise<boolean> {
    const expected = await this.captchas.take(id);
    return expected !== undefined && timingSafeEqual(digest(answer), digest(expected));
  }
}

/** Capitals and small letters are the same: in the picture they look alike. */
function digest(answer: string): Buffer {
  return createHash('sha256').update(answer.toLowerCase()).digest();
}
