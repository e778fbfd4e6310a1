import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { statement } from '../../database/statement';
import { nameOf, SENDERS, type SenderName } from '../../integrations/senders/kinds';
import type { Receipt } from '../../integrations/senders/receipts';
import { countryOf, type Phone } from '../phones/phone-number';
import type { MaxAttempts } from './guesses';
import type { KeptCode } from './verification-code';

export interface SentCode {
  id: number;
  hmac: Buffer;
  /** Name of the way that it took. Empty for codes of the version before. */
  way: string;
  /** Whether the attempt comes from the address that asked for the code. */
  byAsker: boolean;
}

const IN_TTL = 'now() + make_interval(secs => :ttlSeconds)';

/** Maximum open codes of one network that count for a region. Others count once they are verified. */
const MOST_COUNTED = 5;

/** Locks the network's row before the region's, like exchange-code. */
const addCode = statement<
  { id: number },
  'country' | 'network' | 'phone' | 'hmac' | 'askerHmac' | 'ttlSeconds' | 'way' | 'language'
>(
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
   INSERT INTO verification_codes (phone, code_hmac, asker_hmac, expires_at, network, is_counted, country, way, language)
   SELECT :phone, :hmac, :askerHmac, ${IN_TTL}, :network, is_counted, :country, :way, :language FROM counting RETURNING id`,
);

/** Stores a code that is not sent, and counts as no traffic. */
const addTestCode = statement<unknown, 'phone' | 'hmac' | 'askerHmac' | 'ttlSeconds' | 'language'>(
  'add-test-code',
  `INSERT INTO verification_codes (phone, code_hmac, asker_hmac, expires_at, is_counted, language, is_test)
   VALUES (:phone, :hmac, :askerHmac, ${IN_TTL}, false, :language, true)`,
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

const claimAttempt = statement<SentCode, 'phone' | 'callerHmacs' | 'asker' | 'others'>(
  'claim-attempt',
  `WITH newest AS (
     SELECT id, asker_hmac IS NULL OR asker_hmac = ANY (:callerHmacs::bytea[]) AS by_asker
       FROM verification_codes WHERE phone = :phone ORDER BY id DESC LIMIT 1)
   UPDATE verification_codes code
      SET attempts = attempts + by_asker::integer, others_attempts = others_attempts + (NOT by_asker)::integer
     FROM newest
    WHERE code.id = newest.id AND CASE WHEN by_asker THEN attempts < :asker ELSE others_attempts < :others END
      AND verified_at IS NULL AND expires_at > now()
   RETURNING code.id, code_hmac AS hmac, way, by_asker AS "byAsker"`,
);

const releaseAttempt = statement<unknown, 'id' | 'byAsker'>(
  'release-attempt',
  `UPDATE verification_codes
      SET attempts = attempts - (:byAsker::boolean)::integer,
          others_attempts = others_attempts - (NOT :byAsker::boolean)::integer
    WHERE id = :id`,
);

/**
 * The right code also proves in which language the owner of the phone wants to be told, while others may only ask for
 * codes. One that was sent proves that the phone is not only a test number.
 */
const exchangeCode = statement<{ phone: string }, 'id' | 'region' | 'country' | 'hash' | 'phone' | 'ttlSeconds'>(
  'exchange-code',
  `WITH verified AS (
     UPDATE verification_codes SET verified_at = now() WHERE id = :id AND verified_at IS NULL AND expires_at > now()
     RETURNING sms_traffic_slot(created_at) AS sent_in, network, is_counted, language, is_test),
   own AS (
     UPDATE sms_networks one SET verified = one.verified + 1 FROM verified
      WHERE one.network = verified.network AND slot = sent_in RETURNING 1),
   traffic AS (
     INSERT INTO sms_traffic AS held (region, slot, sent, verified)
     SELECT :country, sent_in, (NOT is_counted)::integer, 1 FROM verified, (SELECT count(*) FROM own) AS first
      WHERE NOT is_test
     ON CONFLICT (region, slot) DO UPDATE SET sent = held.sent + excluded.sent, verified = held.verified + 1),
   told_in AS (
     UPDATE phones
        SET language = coalesce(nullif(verified.language, ''), phones.language),
            is_test = phones.is_test AND verified.is_test
       FROM verified
      WHERE phone = :phone AND (verified.language NOT IN ('', phones.language) OR phones.is_test AND NOT verified.is_test))
   INSERT INTO verification_tokens (token_hash, phone, region, expires_at, language, is_test)
   SELECT :hash, :phone, :region, ${IN_TTL}, coalesce(
     nullif(language, ''), (SELECT language FROM phones WHERE phone = :phone), ''), is_test FROM verified RETURNING phone`,
);

/** A receipt is set once: a replayed one, or one that comes late, changes nothing. */
const setReceipt = statement<unknown, 'reference' | 'outcome' | 'ways'>(
  'set-receipt',
  `UPDATE verification_codes SET receipt = :outcome
    WHERE reference = :reference AND reference <> '' AND receipt = '' AND way = ANY (:ways::text[])`,
);

/** Codes on the database's clock; the right one is exchanged for a token. Each code counts as traffic of its country. */
export class VerificationRepository {
  constructor(private readonly db: Knex) {}

  /** Stores a code, and the first way that it tries. From now on only this one is valid for the phone. */
  async addCode(
    phone: Phone,
    code: KeptCode,
    { network, way, language }: { network: string; way: string; language: string },
    ttlSeconds: number,
  ): Promise<number> {
    const country = countryOf(phone);
    const values = { phone: phone.number, country, network, way, language, ...code, ttlSeconds };
    const [row] = await addCode(this.db, values);
    if (!row) throw new Error('INSERT returned no row');
    return row.id;
  }

  async setWay(id: number, way: string): Promise<void> {
    await this.db('verification_codes').where({ id }).update({ way });
  }

  async setReference(id: number, reference: string): Promise<void> {
    await this.db('verification_codes').where({ id }).update({ reference });
  }

  /** Stores a code that is not sent. From now on only this one is valid for the phone. */
  async addTestCode({ number }: Phone, code: KeptCode, language: string, ttlSeconds: number): Promise<void> {
    await addTestCode(this.db, { phone: number, ...code, language, ttlSeconds });
  }

  /** Notes what a provider tells of a message of its own. Ignores one that is not known. */
  async setReceipt(sender: SenderName, { reference, outcome }: Receipt): Promise<void> {
    const ways = SENDERS[sender].channels.map((channel) => nameOf({ sender, channel }));
    await setReceipt(this.db, { reference, outcome, ways });
  }

  /** Withdraws a code that was not sent. The one before it is valid again. */
  async withdrawCode(id: number, phone: Phone): Promise<void> {
    await withdrawCode(this.db, { id, country: countryOf(phone) });
  }

  async hasCode(phone: string): Promise<boolean> {
    return (await this.db('verification_codes').where({ phone }).first<{ id: number } | undefined>('id')) !== undefined;
  }

  /**
   * Claims an attempt before the code is compared. The address that asked for the code has its own attempts; all others
   * share theirs. Returns undefined if the caller's attempts are used up, or the code has expired or been verified.
   */
  async claimAttempt(phone: string, callerHmacs: Buffer[], maxAttempts: MaxAttempts): Promise<SentCode | undefined> {
    const [code] = await claimAttempt(this.db, { phone, callerHmacs, ...maxAttempts });
    return code;
  }

  /** Gives back an attempt whose code was not compared. */
  async releaseAttempt({ id, byAsker }: SentCode): Promise<void> {
    await releaseAttempt(this.db, { id, byAsker });
  }

  /** Returns false if the code was exchanged before, or has ended: among simultaneous right attempts one succeeds. */
  async exchange(codeId: number, phone: Phone, tokenHash: Buffer, ttlSeconds: number): Promise<boolean> {
    const { number, region } = phone;
    const values = { id: codeId, region, country: countryOf(phone), phone: number, hash: tokenHash, ttlSeconds };
    return (await exchangeCode(this.db, values)).length > 0;
  }

  /** Deletes codes after a day, not earlier, so that an expired code is told apart from none. */
  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'verification_codes', `created_at < now() - interval '1 day'`);
  }
}
