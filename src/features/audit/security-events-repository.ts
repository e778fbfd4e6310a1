import type { Knex } from 'knex';
import type { Caller } from '../../base/caller';
import { statement } from '../../database/statement';
import { masked } from '../phones/phone-number';

/** Events of the service. deploy/backup.sh adds `backed_up`. */
// prettier-ignore
export const SECURITY_EVENTS = [
  'code_sent', 'code_refused', 'code_wrong', 'code_verified', 'spend_guard', 'registered', 'logged_in', 'login_failed',
  'password_changed', 'password_reset', 'sessions_ended', 'devices_forgotten', 'phone_changed', 'account_closed', 'account_suspended',
  'account_restored', 'data_exported', 'number_claimed', 'number_kept', 'limit_met', 'group_dismissed', 'notice_sent', 'operator',
] as const;

export type SecurityEventName = (typeof SECURITY_EVENTS)[number];

export interface SecurityEvent {
  event: SecurityEventName;
  userId?: string | undefined;
  /** Stored masked. */
  phone?: { number: string; region?: string };
  detail?: string;
}

type Columns = 'event' | 'userId' | 'phone' | 'region' | 'ip' | 'userAgent' | 'requestId' | 'detail';

const addEvent = statement<unknown, Columns>(
  'add-security-event',
  `INSERT INTO security_events (event, user_id, phone, region, ip, user_agent, request_id, detail)
   VALUES (:event, :userId, :phone, :region, :ip, :userAgent, :requestId, :detail)`,
);

/** Origin of an event. */
export interface Origin {
  ip: string;
  userAgent: string;
}

/** Maximum logins to compare with. More of them add nothing. */
const MOST_LOGINS = 200;

const loginsBefore = statement<Origin, 'userId' | 'requestId'>(
  'logins-before',
  `SELECT ip, user_agent AS "userAgent" FROM security_events
    WHERE user_id = :userId AND event IN ('registered', 'logged_in')
      AND id < (SELECT max(id) FROM security_events
                 WHERE user_id = :userId AND at > now() - interval '1 hour' AND request_id = :requestId
                   AND event IN ('registered', 'logged_in'))
    ORDER BY at DESC LIMIT ${MOST_LOGINS}`,
);

/** Addresses where the account of a phone was used since its password or phone last changed, or they were forgotten. */
export interface UsedAddresses {
  userId: string;
  ips: string[];
}

const FORGETTING = `'password_changed', 'password_reset', 'phone_changed', 'devices_forgotten'`;

const usedAddresses = statement<UsedAddresses, 'phone'>(
  'used-addresses',
  `WITH owner AS (SELECT user_id AS id FROM phones WHERE phone = :phone),
   newest AS (
     SELECT id, event, ip FROM security_events
      WHERE user_id = (SELECT id FROM owner)
        AND event IN ('registered', 'logged_in', ${FORGETTING})
      ORDER BY at DESC LIMIT ${MOST_LOGINS})
   SELECT owner.id AS "userId", ARRAY(
     SELECT DISTINCT ip FROM newest WHERE id >= coalesce(
       (SELECT max(id) FROM newest WHERE event IN (${FORGETTING})), 0)) AS ips
     FROM owner`,
);

/** Separate from the addresses: on several servers the user is found by id on one of them, and by a phone on all. */
const presentCredentials = statement<unknown, 'userId' | 'credentialsVersion'>(
  'present-credentials',
  'SELECT 1 FROM users WHERE id = :userId AND credentials_version = :credentialsVersion',
);

const sweepEvents = statement<{ removed: number }, 'days'>(
  'sweep-security-events',
  'SELECT security_events_sweep(:days::integer) AS removed',
);

/** The table of the audit trail. Rows are only added. */
export class SecurityEventsRepository {
  constructor(private readonly db: Knex) {}

  async add({ event, userId, phone, detail }: SecurityEvent, caller: Caller): Promise<void> {
    const { ip, userAgent, requestId } = caller;
    await addEvent(this.db, {
      event,
      ip,
      userAgent,
      requestId,
      userId: userId ?? null,
      detail: detail ?? null,
      phone: phone ? masked(phone.number) : null,
      region: phone?.region ?? null,
    });
  }

  /** Adds an event unless `count` is 0. */
  async addSessionsEnded(userId: string, count: number, by: string, caller: Caller): Promise<void> {
    if (count > 0) await this.add({ event: 'sessions_ended', userId, detail: `${count}, by ${by}` }, caller);
  }

  /**
   * Returns the origins of the registration and the newest logins of a user, before the login of this request. The
   * first of two simultaneous logins does not see the second.
   */
  async loginsBefore(userId: string, requestId: string): Promise<Origin[]> {
    return loginsBefore(this.db, { userId, requestId });
  }

  /** Returns undefined for a phone without an account. */
  async usedAddresses(phone: string): Promise<UsedAddresses | undefined> {
    const [used] = await usedAddresses(this.db, { phone });
    return used;
  }

  /** Returns whether neither the password nor the phone of the account has changed since this version. */
  async hasPresentCredentials(userId: string, credentialsVersion: number): Promise<boolean> {
    return (await presentCredentials(this.db, { userId, credentialsVersion })).length > 0;
  }

  /** Removes old events in batches, by a database function that has the right to. */
  async sweep(days: number): Promise<void> {
    for (let isLeft = true; isLeft;) {
      const [row] = await sweepEvents(this.db, { days });
      isLeft = (row?.removed ?? 0) > 0;
    }
  }
}
