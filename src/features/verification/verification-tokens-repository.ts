import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { statement } from '../../database/statement';
import { OWN_PHONE, type OwnPhone, type Phone } from '../phones/phone-number';

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

/** Tokens that replaced verified codes, on the database's clock. Using one ends all codes and tokens of its phone. */
export class VerificationTokensRepository {
  constructor(private readonly db: Knex) {}

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

  /** Deletes expired tokens. A used one remains for the minute in which its client may send it again. */
  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'verification_tokens', `expires_at <= now() AND (${isRepeatable}) IS NOT TRUE`);
  }

  private goodToken(tokenHash: Buffer): Knex.QueryBuilder {
    return this.db('verification_tokens').where({ token_hash: tokenHash }).where('expires_at', '>', this.db.fn.now());
  }
}
