import { groupsEver } from '../../database/groups-ever';
import { PAGE, pagesOf } from '../../database/pages';
import type { Reading, ReadAt } from '../../database/replica';
import { columnList, isoTime, statement, type Statement } from '../../database/statement';
import { PROFILE_COLUMNS } from '../users/profile';
import type {
  KeptBlacklistEntry,
  KeptEvent,
  KeptFriendship,
  KeptImage,
  KeptMembership,
  KeptPhone,
  KeptUser,
} from './export-schemas';

const keptUser = statement<KeptUser, 'userId'>(
  'kept-user',
  `SELECT ${columnList(PROFILE_COLUMNS)}, is_findable AS findable, ${isoTime('created_at')} AS "createdAt"
     FROM users WHERE id = :userId AND closed_at IS NULL`,
);

const keptPhones = statement<KeptPhone, 'userId'>(
  'kept-phones',
  'SELECT phone, region, language FROM phones WHERE user_id = :userId ORDER BY phone',
);

/** Pages by the key after the user in an index. Not prepared, so that PostgreSQL plans for the number of rows. */
const imagesPage = statement<KeptImage, 'userId' | 'after'>(
  'kept-images',
  `SELECT user_id || '/' || name AS key, bytes FROM images
    WHERE user_id = :userId AND name > split_part(:after, '/', 2) ORDER BY name LIMIT ${PAGE}`,
  { prepared: false },
);

const blacklistPage = statement<KeptBlacklistEntry, 'userId' | 'after'>(
  'kept-blacklist',
  `SELECT friend_id AS "friendId", status, ${isoTime('updated_at')} AS "updatedAt" FROM blacklist
    WHERE user_id = :userId AND friend_id > :after ORDER BY friend_id LIMIT ${PAGE}`,
  { prepared: false },
);

const friendshipsPage = statement<KeptFriendship, 'userId' | 'after'>(
  'kept-friendships',
  `SELECT friend_id AS "friendId", display_name AS "displayName", message, status, ${isoTime('updated_at')} AS "updatedAt"
     FROM friendships WHERE user_id = :userId AND friend_id > :after ORDER BY friend_id LIMIT ${PAGE}`,
  { prepared: false },
);

const KEPT_MEMBERSHIP = `
  me.group_id AS "groupId", CASE WHEN is_deleted OR is_dismissed THEN '' ELSE g.name END AS "groupName",
  display_name AS "displayName", role, is_deleted OR is_dismissed AS "isDeleted", ${isoTime('updated_at')} AS "updatedAt"`;

/**
 * Shows former members only that they left the group. Each OFFSET 0 keeps PostgreSQL from reading all groups, or all
 * memberships, in order. The LIMIT comes before the join with groups, so that only groups of this page are read.
 */
const membershipsPage = statement<KeptMembership, 'userId' | 'groupIds' | 'after'>(
  'kept-memberships',
  `SELECT ${KEPT_MEMBERSHIP}
     FROM (SELECT * FROM (SELECT * FROM group_members WHERE member_id = :userId AND group_id > :after OFFSET 0) later
            ORDER BY group_id LIMIT ${PAGE}) me
    CROSS JOIN LATERAL (SELECT name, dismissed_at IS NOT NULL AS is_dismissed FROM groups
                         WHERE id = me.group_id OFFSET 0) g
    ORDER BY me.group_id`,
  {
    prepared: false,
    distributed: `SELECT ${KEPT_MEMBERSHIP}
       FROM group_members me JOIN (SELECT id, name, dismissed_at IS NOT NULL AS is_dismissed FROM groups) g ON g.id = me.group_id
      WHERE me.member_id = :userId AND me.group_id = ANY (:groupIds::text[]) AND me.group_id > :after
      ORDER BY me.group_id LIMIT ${PAGE}`,
  },
);

interface EventRow extends KeptEvent {
  cursor: string;
}

/**
 * Hides places from before a password reset, and all but `onlyIp`, if it is not empty: the user may be the new owner of
 * a recycled number. A notice that was sent after the reset may be about a login before it.
 */
const shownSinceReset = (column: string) =>
  `CASE WHEN security_events.at >= reset.at AND (event <> 'notice_sent' OR reset.at = '-infinity')
             AND :onlyIp::text IN ('', ip) THEN ${column} ELSE '' END`;

const eventsPage = statement<EventRow, 'userId' | 'onlyIp' | 'afterAt' | 'afterId'>(
  'kept-events',
  `SELECT security_events.at || '|' || id AS cursor, ${isoTime('security_events.at')} AS at, event, coalesce(phone, '') AS phone,
          ${shownSinceReset('ip')} AS ip, ${shownSinceReset('user_agent')} AS "userAgent", coalesce(detail, '') AS detail
     FROM security_events,
          (SELECT coalesce(max(at), '-infinity') AS at FROM security_events
            WHERE user_id = :userId AND event = 'password_reset') reset
    WHERE user_id = :userId AND (security_events.at, id) > (:afterAt::timestamptz, :afterId::bigint)
    ORDER BY security_events.at, id LIMIT ${PAGE}`,
  { prepared: false },
);

/** Everything stored about a user, in pages where there may be many rows. */
export class ExportRepository {
  constructor(private readonly reading: Reading) {}

  async user(userId: string): Promise<KeptUser | undefined> {
    const [user] = await this.reading.atPrimary(({ db }) => keptUser(db, { userId }));
    return user;
  }

  async phones(userId: string): Promise<KeptPhone[]> {
    return this.reading.atPrimary(({ db }) => keptPhones(db, { userId }));
  }

  /** Returns the lists that may be long, as pages. With `onlyIp`, no other address is shown in the events. */
  lists(userId: string, onlyIp = '') {
    const at = this.reading.readAt();
    return {
      images: this.pages(at, imagesPage, userId, ({ key }) => key),
      blacklist: this.pages(at, blacklistPage, userId, ({ friendId }) => friendId),
      friendships: this.pages(at, friendshipsPage, userId, ({ friendId }) => friendId),
      memberships: this.memberships(at, userId),
      securityEvents: this.securityEvents(at, userId, onlyIp),
    };
  }

  private memberships(at: ReadAt, userId: string): AsyncGenerator<KeptMembership[]> {
    const read = (after: string) =>
      at(async ({ db }) => membershipsPage(db, { userId, groupIds: await groupsEver(db, userId), after }));
    return pagesOf(PAGE, read, ({ groupId }) => groupId);
  }

  private async *securityEvents(at: ReadAt, userId: string, onlyIp: string): AsyncGenerator<KeptEvent[]> {
    const read = (after: string) => {
      const [afterAt, afterId] = (after || '-infinity|0').split('|');
      return at(({ db }) => eventsPage(db, { userId, onlyIp, afterAt, afterId }));
    };
    for await (const page of pagesOf(PAGE, read, ({ cursor }) => cursor))
      yield page.map(({ cursor, ...event }) => event);
  }

  private pages<Row>(
    at: ReadAt,
    page: Statement<Row, 'userId' | 'after'>,
    userId: string,
    keyOf: (row: Row) => string,
  ) {
    return pagesOf(PAGE, (after) => at(({ db }) => page(db, { userId, after })), keyOf);
  }
}
