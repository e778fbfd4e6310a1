import type { Knex } from 'knex';
import { isoTime, statement } from '../database/statement';
import { COPIED_GROUP, COPIED_USER } from '../features/messaging/messaging-copy';
import {
  accountsFound,
  groupFound,
  membersFound,
  phonesOf,
  type FoundAccount,
  type FoundGroup,
  type FoundMember,
  STATE,
} from './lookups';

/** An account as support sees it. */
export interface FoundUser {
  id: string;
  nickname: string;
  phones: string[];
  state: 'open' | 'suspended' | 'closed';
  password: 'set' | 'none';
  createdAt: string;
  friends: number;
  groups: number;
}

export interface FoundEvent {
  at: string;
  event: string;
  userId: string | null;
  phone: string | null;
  detail: string | null;
  ip: string;
}

/** The count of one subject in one limit. */
export interface FoundLimit {
  /** Key of the count. */
  key: string;
  /** Name of the limit. */
  limit: string;
  subject: string;
  used: number;
  amount: number;
  ends: string;
}

const user = statement<Omit<FoundUser, 'phones' | 'groups'>, 'id'>(
  'support-user',
  `SELECT id, nickname, ${STATE} AS state, CASE password_hash WHEN '' THEN 'none' ELSE 'set' END AS password,
          ${isoTime('created_at')} AS "createdAt",
          (SELECT count(*) FROM friendships WHERE user_id = users.id AND status = 20) AS friends
     FROM users WHERE id = :id`,
);

const copied = statement<{ users: number; groups: number }>(
  'support-copied',
  `SELECT (SELECT count(*) FROM users WHERE ${COPIED_USER}) AS users,
          (SELECT count(*) FROM groups WHERE ${COPIED_GROUP}) AS groups`,
);

const groupsOf = statement<{ count: number }, 'id'>(
  'support-groups-of-user',
  'SELECT count(*) AS count FROM group_members WHERE member_id = :id AND NOT is_deleted',
);

const EVENT = `${isoTime('at')} AS at, event, user_id AS "userId", phone, detail, ip`;

const eventsOfUser = statement<FoundEvent, 'userId' | 'most'>(
  'support-events-of-user',
  `SELECT ${EVENT} FROM security_events WHERE user_id = :userId ORDER BY security_events.at DESC LIMIT :most::integer`,
);

/**
 * Phones are stored masked, so that another phone with the same digits is found too. For a phone without an account the
 * closings of accounts are found, which are events of a user.
 */
const eventsOfPhone = statement<FoundEvent, 'phone' | 'userId' | 'days' | 'most'>(
  'support-events-of-phone',
  `SELECT ${EVENT} FROM security_events
    WHERE security_events.at > now() - make_interval(days => :days::integer)
      AND (phone = :phone AND (user_id IS NULL OR :userId = '' AND event = 'account_closed') OR user_id = :userId)
    ORDER BY security_events.at DESC LIMIT :most::integer`,
);

const newestEvents = statement<FoundEvent, 'event' | 'most'>(
  'support-newest-events',
  `SELECT ${EVENT} FROM security_events WHERE :event = '' OR event = :event
    ORDER BY security_events.at DESC, id DESC LIMIT :most::integer`,
);

const LIMIT = `key, split_part(key, ':', 1) AS "limit", substr(key, strpos(key, ':') + 1) AS subject,
               used + cardinality(held) AS used, amount, ${isoTime('resets_at')} AS ends`;

const limitsOfSubject = statement<FoundLimit, 'names' | 'subject'>(
  'support-limits-of-subject',
  `SELECT ${LIMIT}
     FROM unnest(:names::text[]) AS name
    CROSS JOIN LATERAL (
      SELECT * FROM rate_limits
       WHERE key >= name || ':' || :subject AND key < name || ':' || :subject || '!' AND resets_at > now()
       ORDER BY key LIMIT 100 OFFSET 0) AS bucket
    ORDER BY key`,
);

const fullestLimits = statement<FoundLimit, 'most'>(
  'support-fullest-limits',
  `SELECT ${LIMIT} FROM rate_limits WHERE resets_at > now() AND used >= amount
    ORDER BY used::float8 / amount DESC, key LIMIT :most::integer`,
);

const spent = statement<{ region: string; sent: number; verified: number }, 'hours'>(
  'support-spent',
  `SELECT region, sum(sent)::integer AS sent, sum(verified)::integer AS verified
     FROM sms_traffic WHERE slot > now() - make_interval(hours => :hours::integer)
    GROUP BY region ORDER BY 2 DESC, 1`,
);

export interface ServerState {
  version: string;
  /** The version as a number, for comparing. */
  number: number;
  encoding: string;
  size: string;
  newestMigration: string;
  connections: number;
  maxConnections: number;
  oldestSeconds: number;
  standbys: number;
  /** The table with the most dead rows, and their number. */
  mostDead: string;
  clockMs: number;
  /** Whether the service's role may do more than it needs. */
  mayAll: boolean;
}

const server = statement<ServerState>(
  'support-server',
  `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
          current_setting('server_encoding') AS encoding,
          pg_size_pretty(pg_database_size(current_database())) AS size,
          (SELECT name FROM knex_migrations ORDER BY id DESC LIMIT 1) AS "newestMigration",
          (SELECT count(*) FROM pg_stat_activity)::integer AS connections,
          current_setting('max_connections')::integer AS "maxConnections",
          (SELECT coalesce(extract(epoch FROM max(now() - xact_start)), 0)::integer FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()) AS "oldestSeconds",
          (SELECT count(*) FROM pg_stat_replication)::integer AS standbys,
          (SELECT relname || ': ' || n_dead_tup FROM pg_stat_user_tables ORDER BY n_dead_tup DESC LIMIT 1) AS "mostDead",
          (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "clockMs",
          has_table_privilege('security_events', 'UPDATE') AS "mayAll"`,
);

const addressesOfDay = statement<{ events: number; users: number; addresses: number }>(
  'support-addresses-of-day',
  `SELECT count(*) AS events, count(DISTINCT user_id) AS users, count(DISTINCT ip) AS addresses
     FROM (SELECT user_id, ip FROM security_events
            WHERE security_events.at > now() - interval '1 day' AND event = 'logged_in'
            ORDER BY security_events.at DESC LIMIT 1000) AS logins`,
);

const messagesOfDay = statement<{ sent: number; failed: number }>(
  'support-messages-of-day',
  `SELECT count(*) FILTER (WHERE event = 'code_sent') AS sent,
          count(*) FILTER (WHERE event = 'code_refused' AND detail = 'the provider failed') AS failed
     FROM security_events
    WHERE security_events.at > now() - interval '1 day' AND event IN ('code_sent', 'code_refused')`,
);

const newestBackup = statement<{ hours: number }>(
  'support-newest-backup',
  `SELECT (extract(epoch FROM now() - security_events.at) / 3600)::float8 AS hours FROM security_events
    WHERE event = 'backed_up' AND security_events.at > now() - interval '60 days'
    ORDER BY security_events.at DESC LIMIT 1`,
);

/** Statements of support and operators. On the command line they may take longer than those of requests. */
export class SupportRepository {
  /** `limits` is the database of limits. */
  constructor(
    private readonly db: Knex,
    private readonly limits: Knex,
  ) {}

  async user(id: string): Promise<FoundUser | undefined> {
    const [found] = await user(this.db, { id });
    if (found === undefined) return undefined;
    const phones = (await phonesOf(this.db, { ids: [id] })).map(({ phone }) => phone);
    const [groups] = await groupsOf(this.db, { id });
    const { friends, ...account } = found;
    return { ...account, phones, friends, groups: groups?.count ?? 0 };
  }

  /** Returns accounts whose id or phone begins with this text. */
  accounts(text: string): Promise<FoundAccount[]> {
    return accountsFound(this.db, text);
  }

  async group(id: string): Promise<FoundGroup | undefined> {
    const [found] = await groupFound(this.db, { id });
    return found;
  }

  /** Returns how many users and groups a messaging server copies. */
  async copied(): Promise<{ users: number; groups: number }> {
    const [found = { users: 0, groups: 0 }] = await copied(this.db, {});
    return found;
  }

  members(groupId: string): Promise<FoundMember[]> {
    return membersFound(this.db, groupId);
  }

  eventsOfUser(userId: string, most: number): Promise<FoundEvent[]> {
    return eventsOfUser(this.db, { userId, most });
  }

  eventsOfPhone(phone: string, userId: string | undefined, most: number): Promise<FoundEvent[]> {
    return eventsOfPhone(this.db, { phone, userId: userId ?? '', days: 7, most });
  }

  /** Returns events of one kind, or of all. */
  newestEvents(event: string, most: number): Promise<FoundEvent[]> {
    return newestEvents(this.db, { event, most });
  }

  /** Returns counts of a subject, and of pairs that begin with it. */
  limitsOf(subject: string, names: string[]): Promise<FoundLimit[]> {
    return limitsOfSubject(this.limits, { subject, names });
  }

  fullestLimits(most: number): Promise<FoundLimit[]> {
    return fullestLimits(this.limits, { most });
  }

  spent(hours: number): Promise<{ region: string; sent: number; verified: number }[]> {
    return spent(this.db, { hours });
  }

  async server(): Promise<ServerState> {
    const [state] = await server(this.db, {});
    if (state === undefined) throw new Error('the server told nothing of itself');
    return state;
  }

  async addressesOfDay(): Promise<{ events: number; users: number; addresses: number }> {
    const [found = { events: 0, users: 0, addresses: 0 }] = await addressesOfDay(this.db, {});
    return found;
  }

  /** Returns the age of the newest backup that deploy/backup.sh has noted. */
  async hoursSinceBackup(): Promise<number | undefined> {
    const [found] = await newestBackup(this.db, {});
    return found?.hours;
  }

  async messagesOfDay(): Promise<{ sent: number; failed: number }> {
    const [found = { sent: 0, failed: 0 }] = await messagesOfDay(this.db, {});
    return found;
  }
}
