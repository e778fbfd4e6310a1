import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { statement } from '../../database/statement';
import type { Bucket } from '../limits/limits-repository';
import { countryOf, type Phone } from '../phones/phone-number';
import type { MaxAttempts } from './guesses';
import type { KeptCode } from './verification-code';

export interface SentCode {
  id: number;
  hmac: Buffer;
  /** Whether the attempt is one of the address that asked for the code. */
  byAsker: boolean;
}

const IN_TTL = 'now() + make_interval(secs => :ttlSeconds)';

/** Open codes of one network that a region is judged by. The others count once they are verified. */
const MOST_COUNTED = 5;

/** Locks the network's row before the region's, as exchange-code does. */
const addCode = statement<{ id: number }, 'country' | 'network' | 'phone' | 'hmac' | 'askerHmac' | 'ttlSeconds'>(
  'add-code',
  `WITH own AS (
     INSERT INTO sms_networks AS held (network, slot, sent) VALUES (:network, sms_traffic_slot(now()), 1)
     ON CONFLICT (network, slot) DO UPDATE SET sent = held.sent + 1 RETURNING sent - verified AS open),
   counting AS (
     SELECT open + (SELECT coalesce(sum(sent - verified), 0) FROM sms_networks
                     WHERE network = :network AND slot > now() - interval '1 day' AND slot < sms_traffic_slot(now()))
            <= ${MOST_COUNTED} AS is_counted
       FROM own),
   traffic AS (
     INSERT INTO sms_traffic AS held (region, slot, sent)
     SELECT :country, sms_traffic_slot(now()), 1 FROM counting WHERE is_counted
     ON CONFLICT (region, slot) DO UPDATE SET sent = held.sent + 1)
   INSERT INTO verification_codes (phone, code_hmac, asker_hmac, expires_at, network, is_counted)
   SELECT :phone, :hmac, :askerHmac, ${IN_TTL}, :network, is_counted FROM counting RETURNING id`,
);

const withdrawCode = statement<unknown, 'id' | 'country'>(
  'withdraw-code',
  `WITH withdrawn AS (
     DELETE FROM verification_codes WHERE id = :id RETURNING sms_traffic_slot(created_at) AS sent_in, network, is_counted),
   own AS (
     UPDATE sms_networks one SET sent = sent - 1 FROM withdrawn
      WHERE one.network = withdrawn.network AND slot = sent_in RETURNING 1)
   UPDATE sms_traffic SET sent = sent - 1 FROM withdrawn, (SELECT count(*) FROM own) AS first
    WHERE region = :country AND slot = sent_in AND is_counted`,
);

const claimAttempt = statement<SentCode, 'phone' | 'callerHmacs' | 'asker' | 'others' | 'budgets' | 'amounts'>(
  'claim-attempt',
  `WITH newest AS (
     SELECT id, asker_hmac IS NULL OR asker_hmac = ANY (:callerHmacs::bytea[]) AS by_asker
       FROM verification_codes WHERE phone = :phone ORDER BY id DESC LIMIT 1)
   UPDATE verification_codes code
      SET attempts = attempts + by_asker::integer, others_attempts = others_attempts + (NOT by_asker)::integer
     FROM newest
    WHERE code.id = newest.id AND CASE WHEN by_asker THEN attempts < :asker ELSE others_attempts < :others END
      AND verified_at IS NULL AND expires_at > now()
      AND NOT EXISTS (
        SELECT FROM unnest(:budgets::text[], :amounts::integer[]) AS budget (key, most),
               LATERAL (SELECT * FROM rate_limits WHERE key = budget.key OFFSET 0) AS bucket
         WHERE bucket.resets_at > now() AND bucket.used >= budget.most)
   RETURNING code.id, code_hmac AS hmac, by_asker AS "byAsker"`,
);

const releaseAttempt = statement<unknown, 'id' | 'byAsker'>(
  'release-attempt',
  `UPDATE verification_codes
      SET attempts = attempts - (:byAsker::boolean)::integer,
          others_attempts = others_attempts - (NOT :byAsker::boolean)::integer
    WHERE id = :id`,
);

const exchangeCode = statement<{ phone: string }, 'id' | 'region' | 'country' | 'hash' | 'phone' | 'ttlSeconds'>(
  'exchange-code',
  `WITH verified AS (
     UPDATE verification_codes SET verified_at = now() WHERE id = :id AND verified_at IS NULL AND expires_at > now()
     RETURNING sms_traffic_slot(created_at) AS sent_in, network, is_counted),
   own AS (
     UPDATE sms_networks one SET verified = one.verified + 1 FROM verified
      WHERE one.network = verified.network AND slot = sent_in RETURNING 1),
   traffic AS (
     INSERT INTO sms_traffic AS held (region, slot, sent, verified)
     SELECT :country, sent_in, (NOT is_counted)::integer, 1 FROM verified, (SELECT count(*) FROM own) AS first
     ON CONFLICT (region, slot) DO UPDATE SET sent = held.sent + excluded.sent, verified = held.verified + 1)
   INSERT INTO verification_tokens (token_hash, phone, region, expires_at)
   SELECT :hash, :phone, :region, ${IN_TTL} FROM verified RETURNING phone`,
);

/**
 * Waits until no code of the phone is being exchanged: only a statement after this one sees the tokens that come of
 * that. A code that has just expired may still be under way.
 */
const lockCodes = statement<unknown, 'phone'>(
  'lock-codes',
  `SELECT id FROM verification_codes
    WHERE phone = :phone AND verified_at IS NULL AND expires_at > now() - interval '1 minute'
    ORDER BY id FOR UPDATE`,
);

/**
 * Locks in order, so that two requests with tokens of one phone never wait for each other. The codes end at their
 * beginning: an exchange that waits for them may have begun before this transaction, and has an earlier now().
 */
const ending = (phone: string) => `
  WITH locked AS (SELECT token_hash FROM verification_tokens WHERE phone = ${phone} ORDER BY token_hash FOR UPDATE),
  ended AS (
    DELETE FROM verification_tokens WHERE token_hash IN (SELECT token_hash FROM locked) RETURNING token_hash, phone),
  codes AS (UPDATE verification_codes SET expires_at = created_at WHERE phone = ${phone} AND expires_at > now())
  SELECT token_hash FROM ended`;

const endAll = statement<unknown, 'phone'>('end-codes-and-tokens', ending(':phone'));

const useToken = statement<unknown, 'tokenHash'>(
  'use-token',
  `${ending('(SELECT phone FROM verification_tokens WHERE token_hash = :tokenHash AND expires_at > now())')}
    WHERE token_hash = :tokenHash`,
);

/**
 * Codes and the tokens that they were exchanged for, on the database's clock. Each code counts as traffic of its
 * country.
 */
export class VerificationRepository {
  constructor(private readonly db: Knex) {}

  /** From now on only this code counts for the phone. */
  async addCode(phone: Phone, code: KeptCode, network: string, ttlSeconds: number): Promise<number> {
    const country = countryOf(phone);
    const [row] = await addCode(this.db, { phone: phone.number, country, network, ...code, ttlSeconds });
    if (!row) throw new Error('INSERT returned no row');
    return row.id;
  }

  /** The code was not sent: the one before it counts again. */
  async withdrawCode(id: number, phone: Phone): Promise<void> {
    await withdrawCode(this.db, { id, country: countryOf(phone) });
  }

  async hasCode(phone: string): Promise<boolean> {
    return (await this.db('verification_codes').where({ phone }).first<{ id: number } | undefined>('id')) !== undefined;
  }

  /**
   * Claims an attempt before the code is compared. The address that asked for the code has attempts of its own,
   * all others share theirs. Undefined when the caller's are spent, or the code has expired or been verified,
   * or one of the budgets is used up: not even for a moment does such a caller take a try that others share.
   */
  async claimAttempt(
    phone: string,
    callerHmacs: Buffer[],
    maxAttempts: MaxAttempts,
    budgets: Bucket[],
  ): Promise<SentCode | undefined> {
    const [code] = await claimAttempt(this.db, {
      ...{ phone, callerHmacs, ...maxAttempts },
      budgets: budgets.map(({ key }) => key),
      amounts: budgets.map(({ amount }) => amount),
    });
    return code;
  }

  /** The code was not compared. */
  async releaseAttempt({ id, byAsker }: SentCode): Promise<void> {
    await releaseAttempt(this.db, { id, byAsker });
  }

  /** False when the code was exchanged before, or has ended: of several right tries at once one wins. */
  async exchange(codeId: number, phone: Phone, tokenHash: Buffer, ttlSeconds: number): Promise<boolean> {
    const { number, region } = phone;
    const values = { id: codeId, region, country: countryOf(phone), phone: number, hash: tokenHash, ttlSeconds };
    return (await exchangeCode(this.db, values)).length > 0;
  }

  async phoneOfToken(tokenHash: Buffer): Promise<Phone | undefined> {
    return this.goodToken(tokenHash).first<Phone | undefined>({ number: 'phone', region: 'region' });
  }

  /** Ends all codes and tokens of its phone with it, in a transaction. False when another request was first. */
  async useToken(tokenHash: Buffer, phone: string): Promise<boolean> {
    await lockCodes(this.db, { phone });
    return (await useToken(this.db, { tokenHash })).length > 0;
  }

  /** Ends all codes and tokens of a phone, in a transaction. The codes are still known as expired ones. */
  async endAll(phone: string): Promise<void> {
    await lockCodes(this.db, { phone });
    await endAll(this.db, { phone });
  }

  /** Codes are kept for a day, so that an expired one is not answered as none. */
  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'verification_codes', `created_at < now() - interval '1 day'`);
    await deleteInBatches(this.db, 'verification_tokens', 'expires_at <= now()');
  }

  private goodToken(tokenHash: Buffer): Knex.QueryBuilder {
    return this.db('verification_tokens').where({ token_hash: tokenHash }).where('expires_at', '>', this.db.fn.now());
  }
}
