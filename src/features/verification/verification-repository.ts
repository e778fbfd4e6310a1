import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { prepared } from '../../database/prepared';
import type { Phone } from '../users/phone-number';

export interface SentCode {
  id: number;
  hmac: Buffer;
}

const inSeconds = 'now() + make_interval(secs => ?)';

/** Codes that were sent and the tokens they were exchanged for, on the database's clock; each counts as its region's traffic. */
export class VerificationRepository {
  constructor(private readonly db: Knex) {}

  /** From now on only this code counts for the phone. */
  async addCode(phone: Phone, hmac: Buffer, ttlSeconds: number): Promise<number> {
    const { rows } = await prepared<{ id: number }>(
      this.db,
      'add-code',
      `WITH traffic AS (
         INSERT INTO sms_traffic AS held (region, slot, sent) VALUES (?, sms_traffic_slot(now()), 1)
         ON CONFLICT (region, slot) DO UPDATE SET sent = held.sent + 1)
       INSERT INTO verification_codes (phone, code_hmac, expires_at) VALUES (?, ?, ${inSeconds}) RETURNING id`,
      [phone.region, phone.number, hmac, ttlSeconds],
    );
    const [row] = rows;
    if (!row) throw new Error('INSERT returned no row');
    return row.id;
  }

  /** The code was not sent: the one before it counts again. */
  async withdrawCode(id: number, region: string): Promise<void> {
    await this.db.raw(
      `WITH withdrawn AS (DELETE FROM verification_codes WHERE id = ? RETURNING created_at)
       UPDATE sms_traffic SET sent = sent - 1 FROM withdrawn WHERE region = ? AND slot = sms_traffic_slot(created_at)`,
      [id, region],
    );
  }

  async hasCode(phone: string): Promise<boolean> {
    return (await this.db('verification_codes').where({ phone }).first<{ id: number } | undefined>('id')) !== undefined;
  }

  /** Claims one of the code's attempts before anything is compared; undefined when it is spent, expired or verified. */
  async claimAttempt(phone: string, maxAttempts: number): Promise<SentCode | undefined> {
    const { rows } = await prepared<SentCode>(
      this.db,
      'claim-attempt',
      `UPDATE verification_codes SET attempts = attempts + 1
        WHERE id = (SELECT id FROM verification_codes WHERE phone = ? ORDER BY id DESC LIMIT 1)
          AND attempts < ? AND verified_at IS NULL AND expires_at > now()
       RETURNING id, code_hmac AS hmac`,
      [phone, maxAttempts],
    );
    return rows[0];
  }

  /** False when the code has been exchanged already: of parallel right tries one wins. */
  async exchange(codeId: number, phone: Phone, tokenHash: Buffer, ttlSeconds: number): Promise<boolean> {
    const { rowCount } = await prepared(
      this.db,
      'exchange-code',
      `WITH verified AS (
         UPDATE verification_codes SET verified_at = now() WHERE id = ? AND verified_at IS NULL RETURNING created_at),
       traffic AS (
         UPDATE sms_traffic SET verified = verified + 1
           FROM verified WHERE region = ? AND slot = sms_traffic_slot(verified.created_at))
       INSERT INTO verification_tokens (token_hash, phone, region, expires_at)
       SELECT ?, ?, ?, ${inSeconds} FROM verified`,
      [codeId, phone.region, tokenHash, phone.number, phone.region, ttlSeconds],
    );
    return rowCount > 0;
  }

  async phoneOfToken(tokenHash: Buffer): Promise<Phone | undefined> {
    return this.goodToken(tokenHash).first<Phone | undefined>({ number: 'phone', region: 'region' });
  }

  /** False when somebody else has used it. */
  async useToken(tokenHash: Buffer): Promise<boolean> {
    return (await this.goodToken(tokenHash).delete()) > 0;
  }

  /** A code is remembered for a day, to tell an expired one from none. */
  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'verification_codes', `created_at < now() - interval '1 day'`);
    await deleteInBatches(this.db, 'verification_tokens', 'expires_at <= now()');
  }

  private goodToken(tokenHash: Buffer): Knex.QueryBuilder {
    return this.db('verification_tokens').where({ token_hash: tokenHash }).where('expires_at', '>', this.db.fn.now());
  }
}
