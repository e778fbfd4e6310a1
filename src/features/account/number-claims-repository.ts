import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';
import { findsAllOfUser } from '../../database/hold-in-place';
import { statement } from '../../database/statement';
import { EventsRepository } from '../events/events-repository';
import type { Account } from '../users/users-repository';

/** A claim of the number of an account that is awake, by a person who has proved the number. */
export interface NumberClaim {
  phone: string;
  claimedAt: Date;
  dueAt: Date;
}

/** Time in which the owner may keep the number, and then the time in which the claim may be used. */
const ANSWER_DAYS = 7;
const USE_DAYS = 7;

const LAPSED = `due_at <= now() - interval '${USE_DAYS} days'`;
const COLUMNS = 'phone, claimed_at AS "claimedAt", due_at AS "dueAt"';

const unused = statement<{ isUnused: boolean }, 'phone' | 'userId' | 'days'>(
  'phone-unused',
  `SELECT awake_at < now() - make_interval(days => :days::integer) AS "isUnused"
     FROM phones WHERE phone = :phone AND user_id = :userId`,
);

const sessionOf = statement<{ sid: string }, 'userId'>(
  'session-of-user',
  `SELECT sid FROM session WHERE sess ->> 'userId' = :userId AND expire > now() LIMIT 1`,
);

/** Replaces a claim that is void or has lapsed. */
const begin = statement<NumberClaim, 'phone' | 'userId' | 'credentialsVersion'>(
  'begin-number-claim',
  `INSERT INTO number_claims (phone, user_id, credentials_version, due_at)
   VALUES (:phone, :userId, :credentialsVersion, now() + interval '${ANSWER_DAYS} days')
   ON CONFLICT (phone) DO UPDATE
     SET user_id = excluded.user_id, credentials_version = excluded.credentials_version,
         claimed_at = excluded.claimed_at, due_at = excluded.due_at
   RETURNING ${COLUMNS}`,
);

const ofAccount = statement<NumberClaim, 'userId' | 'credentialsVersion'>(
  'number-claims-of-user',
  `SELECT ${COLUMNS} FROM number_claims
    WHERE user_id = :userId AND credentials_version = :credentialsVersion::integer AND NOT ${LAPSED} ORDER BY phone`,
);

type OpenAccount = Pick<Account, 'id' | 'credentialsVersion'>;

/**
 * Claims of numbers. One is void once its account has other credentials, that is another password or phone: its owner
 * has answered, or the person with the number has taken the account over.
 */
export class NumberClaimsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Returns whether the account has no session, and none was begun or renewed for this many days; or undefined if the
   * phone is not the account's. The account has to be locked: a login that is under way is then seen, or finds the
   * account closed.
   */
  async isAsleep(phone: string, { id }: OpenAccount, days: number): Promise<boolean | undefined> {
    await findsAllOfUser(this.db, { userId: id });
    const [found] = await unused(this.db, { phone, userId: id, days });
    return found && found.isUnused && (await sessionOf(this.db, { userId: id })).length === 0;
  }

  /** Begins a claim, and tells of it. */
  async begin(phone: string, { id, credentialsVersion }: OpenAccount): Promise<NumberClaim> {
    const [claim] = await begin(this.db, { phone, userId: id, credentialsVersion });
    if (!claim) throw new Error('INSERT returned no row');
    await new EventsRepository(this.db).tell('phone.claimed', id);
    return claim;
  }

  /** Returns open claims: of each phone of the account one at most. */
  async ofAccount({ id, credentialsVersion }: OpenAccount): Promise<NumberClaim[]> {
    return ofAccount(this.db, { userId: id, credentialsVersion });
  }

  /** Ends the claims of an account, and returns their number. */
  async end(userId: string): Promise<number> {
    return this.db('number_claims').where({ user_id: userId }).delete();
  }

  /** Like `end`, but because the owner keeps the number, of which it tells. Returns whether there was a claim. */
  async keep(userId: string): Promise<boolean> {
    const isKept = (await this.end(userId)) > 0;
    if (isKept) await new EventsRepository(this.db).tell('phone.kept', userId);
    return isKept;
  }

  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'number_claims', LAPSED);
  }
}
