import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { statement } from '../../database/statement';
import { nameOf, SENDERS, type SenderName } from '../../integrations/senders/kinds';
import type { Receipt } from '../../integrations/senders/receipts';
import { countryOf, OWN_PHONE, type OwnPhone, type Phone } from '../phones/phone-number';
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

/** The token of a request. */
export interface ShownToken extends OwnPhone {
  /** HMAC of the address of the client for which it has begun a session, or null. */
  usedBy: Buffer | null;
  /** Time when it began that session, or null. */
  usedAt: Date | null;
}

/** The session that a token begins, and the client that sends the token. */
export interface TokenUse {
  sid: string;
  /** Possible HMACs of the client's address, one per secret. The first one is stored. */
  askerHmacs: Buffer[];
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

/** The token of a test number proves nothing about an account whose phone was proved by a code that was sent. */
const GOOD_FOR_ITS_ACCOUNT = `NOT (is_test AND EXISTS (
  SELECT FROM phones WHERE phones.phone = verification_tokens.phone AND NOT phones.is_test))`;

/**
 * Waits until no code of the phone is being exchanged: only a statement after this one sees the resulting tokens. Even
 * a code that has just expired may still be in exchange.
 */
const lockCodes = statement<unknown, 'phone'>(
  'lock-codes',
  `SELECT id FROM verification_codes
    WHERE phone = :phone AND verified_at IS NULL AND expires_at > now() - interval '1 minute'
    ORDER BY id FOR UPDATE`,
);

/**
 * Locks in order, so that two requests with tokens of one phone cannot deadlock. The codes expire at their creation
 * time: an exchange that waits for them may have begun before this transaction, and has an earlier now().
 */
const ending = (phone: string) => `
  WITH locked AS (SELECT token_hash FROM verification_tokens WHERE phone = ${phone} ORDER BY token_hash FOR UPDATE),
  ended AS (
    DELETE FROM verification_tokens WHERE token_hash IN (SELECT token_hash FROM locked)
    RETURNING token_hash, phone, used_at),
  codes AS (UPDATE verification_codes SET expires_at = created_at WHERE phone = ${phone} AND expires_at > now())
  SELECT token_hash FROM ended`;

const endAll = statement<unknown, 'phone'>('end-codes-and-tokens', ending(':phone'));

/** A token that began a session while this statement waited has still ended, but does not count. */
const useToken = statement<unknown, 'tokenHash'>(
  'use-token',
  `${ending('(SELECT phone FROM verification_tokens WHERE token_hash = :tokenHash AND expires_at > now())')}
    WHERE token_hash = :tokenHash AND used_at IS NULL`,
);

/** Whether a token began a session so recently that its client may send it again. */
const isRepeatable = `used_at > now() - interval '1 minute'`;

/** Tokens that are good, or may be sent again. */
const tokenBy = statement<ShownToken, 'tokenHash'>(
  'token-by-hash',
  `SELECT phone AS number, region, language, is_test AS "isTest", asker_hmac AS "usedBy", used_at AS "usedAt"
     FROM verification_tokens
    WHERE token_hash = :tokenHash AND (expires_at > now() OR ${isRepeatable}) AND ${GOOD_FOR_ITS_ACCOUNT}`,
);

/**
 * Like use-token, but keeps the row with the session that it begins. The token expires long ago: a transaction that
 * waits for this one, also of the version before, may have an earlier now().
 */
const spendToken = statement<{ replacedSid: string | null }, 'phone' | 'tokenHash' | 'askerHmacs' | 'sid'>(
  'spend-token',
  `WITH locked AS (
     SELECT token_hash, sid, CASE WHEN used_at IS NULL THEN expires_at > now()
                                  ELSE ${isRepeatable} AND asker_hmac = ANY (:askerHmacs::bytea[]) END AS is_good
       FROM verification_tokens WHERE phone = :phone ORDER BY token_hash FOR UPDATE),
   spent AS (
     UPDATE verification_tokens token
        SET used_at = coalesce(used_at, now()), expires_at = 'epoch', asker_hmac = (:askerHmacs::bytea[])[1], sid = :sid
       FROM locked WHERE token.token_hash = locked.token_hash AND token.token_hash = :tokenHash AND is_good
     RETURNING locked.sid AS replaced),
   others AS (
     DELETE FROM verification_tokens
      WHERE token_hash IN (SELECT token_hash FROM locked) AND token_hash <> :tokenHash),
   codes AS (UPDATE verification_codes SET expires_at = created_at WHERE phone = :phone AND expires_at > now())
   SELECT replaced AS "replacedSid" FROM spent`,
);

/** A receipt is set once: a replayed one, or one that comes late, changes nothing. */
const setReceipt = statement<unknown, 'reference' | 'outcome' | 'ways'>(
  'set-receipt',
  `UPDATE verification_codes SET receipt = :outcome
    WHERE reference = :reference AND reference <> '' AND receipt = '' AND way = ANY (:ways::text[])`,
);

/** Codes, and the tokens that replaced them, on the database's clock. Each code counts as traffic of its country. */
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

  async phoneOfToken(tokenHash: Buffer): Promise<OwnPhone | undefined> {
    return this.goodToken(tokenHash).whereRaw(GOOD_FOR_ITS_ACCOUNT).first<OwnPhone | undefined>(OWN_PHONE);
  }

  /** Keeps a token from being used by others until the transaction ends. Returns undefined for one that is not valid. */
  async holdToken(tokenHash: Buffer): Promise<(Phone & { expiresAt: Date }) | undefined> {
    const held = this.goodToken(tokenHash).whereRaw(GOOD_FOR_ITS_ACCOUNT).forUpdate();
    return held.first<(Phone & { expiresAt: Date }) | undefined>({
      number: 'phone',
      region: 'region',
      expiresAt: 'expires_at',
    });
  }

  /** Ends all codes and tokens of the token's phone, in a transaction. Returns false if another request was first. */
  async useToken(tokenHash: Buffer, phone: string): Promise<boolean> {
    await lockCodes(this.db, { phone });
    return (await useToken(this.db, { tokenHash })).length > 0;
  }

  /** Finds a good token, and also one that has begun a session within the last minute. */
  async tokenBy(tokenHash: Buffer): Promise<ShownToken | undefined> {
    const [token] = await tokenBy(this.db, { tokenHash });
    return token;
  }

  /**
   * Ends all codes and tokens of the phone, in a transaction, and notes which session this one begins. For a minute the
   * same client may send it again: `replacedSid` is then the session that it began before. Returns undefined for any
   * other token that is not good.
   */
  async spendToken(
    tokenHash: Buffer,
    phone: string,
    { sid, askerHmacs }: TokenUse,
  ): Promise<{ replacedSid: string | null } | undefined> {
    await lockCodes(this.db, { phone });
    const [spent] = await spendToken(this.db, { tokenHash, phone, sid, askerHmacs });
    return spent;
  }

  /** Ends all codes and tokens of a phone; needs a transaction. The codes remain known as expired. */
  async endAll(phone: string): Promise<void> {
    await lockCodes(this.db, { phone });
    await endAll(this.db, { phone });
  }

  /** Deletes codes after a day, not earlier, so that an expired code is told apart from none. */
  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'verification_codes', `created_at < now() - interval '1 day'`);
    await deleteInBatches(this.db, 'verification_tokens', `expires_at <= now() AND (${isRepeatable}) IS NOT TRUE`);
  }

  private goodToken(tokenHash: Buffer): Knex.QueryBuilder {
    return this.db('verification_tokens').where({ token_hash: tokenHash }).where('expires_at', '>', this.db.fn.now());
  }
}
