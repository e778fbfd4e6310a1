import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import type { SpentChallenges } from '../../integrations/captcha/altcha/captchas';
import type { KeptCaptcha, KeptCaptchas } from '../../integrations/captcha/drawn/captchas';

/** Answers of the captchas that this service draws, and challenges that were solved. */
export class CaptchasRepository implements KeptCaptchas, SpentChallenges {
  constructor(private readonly db: Knex) {}

  async add({ id, answer, png }: KeptCaptcha, ttlSeconds: number): Promise<void> {
    await this.db('captchas').insert({
      id,
      answer,
      png,
      expires_at: this.db.raw('now() + make_interval(secs => ?)', [ttlSeconds]),
    });
  }

  async image(id: string): Promise<Buffer | undefined> {
    const row = await this.live(id).first<Pick<KeptCaptcha, 'png'> | undefined>('png');
    return row?.png;
  }

  /** Deletes the captcha and returns its answer: each captcha allows one attempt. */
  async take(id: string): Promise<string | undefined> {
    const rows: { answer: string }[] = await this.live(id).delete(['answer']);
    return rows[0]?.answer;
  }

  /** Keeps a solved challenge. Only one of simultaneous requests with its solution adds the row. */
  async spend(id: string, ttlSeconds: number): Promise<boolean> {
    const expires_at = this.db.raw('now() + make_interval(secs => ?)', [ttlSeconds]);
    const spent = { id, answer: '', png: Buffer.alloc(0), expires_at };
    const added = await this.db('captchas').insert(spent).onConflict('id').ignore().returning('id');
    return added.length > 0;
  }

  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'captchas', 'expires_at <= now()');
  }

  private live(id: string): Knex.QueryBuilder {
    return this.db('captchas').where({ id }).where('expires_at', '>', this.db.fn.now());
  }
}
