import type { Knex } from 'knex';
import { newestFirst, type TimedRow } from '../../database/newest-first';
import { OWNER } from '../../database/owner-reads';
import { PAGE } from '../../database/pages';
import { statement, type Runner } from '../../database/statement';
import { Overtaken } from '../../database/transaction';
import { NAMES, withNames } from '../users/names';
import type { Person } from '../users/profile';
import {
  DELETED,
  FRIENDS,
  IGNORED,
  REQUESTED,
  REQUESTING,
  type FriendStatus,
  type Most,
  type Relation,
  type Side,
  type Standing,
  type Two,
} from './invitation';

/** A friend, under the name that the user has given. */
export interface Friend extends Person {
  displayName: string;
}

export interface Friendship extends Friend {
  message: string;
  status: FriendStatus;
  updatedAt: string;
}

/** What is to be written of one side. */
interface NewSide extends Two {
  status: FriendStatus;
  message?: string;
}

/**
 * Ids never change: what is written meanwhile moves no row past a page. Not prepared, so that PostgreSQL knows how long
 * the list is.
 */
const pageOfFriendships = statement<Omit<Friendship, 'updatedAt'> & TimedRow, 'userId' | 'after'>(
  'page-of-friendships',
  `SELECT entry.friend_id AS id, ${NAMES},
          entry.display_name AS "displayName", entry.message, entry.status,
          (extract(epoch FROM entry.updated_at) * 1000000)::float8 AS "updatedMicros"
     FROM (SELECT friend_id, display_name, message, status, updated_at FROM friendships
            WHERE user_id = :userId AND status <> ${DELETED} AND friend_id > :after
            ORDER BY friend_id LIMIT ${PAGE}) AS entry
     ${withNames('entry.friend_id')}
    ORDER BY entry.friend_id`,
  { prepared: false },
);

const friend = statement<Friend, keyof Two>(
  'friend',
  `SELECT friend_id AS id, display_name AS "displayName",
          coalesce(nickname, '') AS nickname, coalesce(portrait_uri, '') AS "portraitUri"
     FROM friendships LEFT JOIN users ON users.id = friend_id
    WHERE user_id = :userId AND friend_id = :friendId AND status = ${FRIENDS}`,
);

/** In the order of their ids, so that there is no deadlock between two who do something with each other. */
const lockUsers = statement<{ id: string }, 'ids'>(
  'lock-befriending-users',
  `SELECT id FROM users WHERE id = ANY (:ids::text[]) AND closed_at IS NULL ORDER BY id FOR NO KEY UPDATE`,
);

/** With a lock, because other services write these rows without one on the users. */
const lockSides = statement<Side & { userId: string }, keyof Two>(
  'lock-two-sides',
  `SELECT user_id AS "userId", status,
          coalesce(requested_at > coalesce(answered_at, '-infinity'), false) AS "isUnanswered",
          extract(epoch FROM now() - coalesce(requested_at, updated_at))::float8 AS "requestedSecondsAgo",
          extract(epoch FROM now() - coalesce(answered_at, updated_at))::float8 AS "answeredSecondsAgo"
     FROM friendships
    WHERE (user_id = :userId AND friend_id = :friendId) OR (user_id = :friendId AND friend_id = :userId)
    ORDER BY user_id FOR NO KEY UPDATE`,
);

/** Of one's own side, without a lock. */
const ownStatus = statement<{ status: number }, keyof Two>(
  'own-side-of-friendship',
  'SELECT status FROM friendships WHERE user_id = :userId AND friend_id = :friendId',
);

/** Whether a user has fewer friendships of some kinds than there may be; counted up to that. */
function room(userId: string, kinds: string, most: string): string {
  return `(${most}::integer = 0 OR ${most} > (
    SELECT count(*) FROM (SELECT FROM friendships WHERE user_id = ${userId} AND status IN (${kinds}) LIMIT ${most}) counted))`;
}

/** What the one is told of neither: the same is asked whatever there is between the two. */
const standing = statement<Standing, keyof Two | keyof Most>(
  'standing-between-two',
  `SELECT EXISTS (SELECT FROM blacklist WHERE user_id = :friendId AND friend_id = :userId AND status) AS "isBlacklisted",
          ${room(':userId', `${FRIENDS}`, ':friends')} AS "hasRoom",
          ${room(':userId', `${FRIENDS}, ${REQUESTING}`, ':friends')} AS "hasRoomToAsk",
          ${room(':friendId', `${FRIENDS}`, ':friends')} AS "isOpenToFriends",
          ${room(':friendId', `${REQUESTED}`, ':requests')} AS "isOpenToRequests"`,
);

/** Only over rows that were seen and locked: one that another service has made since is left as it is. */
const saveSides = statement<unknown, 'userIds' | 'friendIds' | 'statuses' | 'messages' | 'seen'>(
  'save-sides',
  `INSERT INTO friendships (user_id, friend_id, status, message)
     SELECT user_id, friend_id, status, message
       FROM unnest(:userIds::text[], :friendIds::text[], :statuses::smallint[], :messages::text[])
                AS side (user_id, friend_id, status, message)
      ORDER BY user_id COLLATE "C"
   ON CONFLICT (user_id, friend_id) DO UPDATE
     SET status = excluded.status, message = excluded.message,
         requested_at = coalesce(excluded.requested_at, friendships.requested_at)
     WHERE friendships.user_id = ANY (:seen::text[])
   RETURNING user_id`,
);

/** A request, and what there is of it on the other side. */
const withdraw = statement<{ userId: string }, keyof Two>(
  'withdraw-request',
  `UPDATE friendships SET status = ${DELETED}
    WHERE (user_id = :userId AND friend_id = :friendId AND status = ${REQUESTING})
       OR (user_id = :friendId AND friend_id = :userId AND status IN (${REQUESTED}, ${IGNORED}))
   RETURNING user_id AS "userId"`,
);

const REQUEST_DAYS = 30;
/** Requests that one transaction ends: some 20 milliseconds of work, for which their users wait. */
const BATCH = 100;
const IS_OVERDUE = `status IN (${REQUESTING}, ${REQUESTED})
      AND coalesce(requested_at, updated_at) < now() - interval '${REQUEST_DAYS} days'`;

const overdue = statement<Two, never>(
  'overdue-requests',
  `SELECT user_id AS "userId", friend_id AS "friendId" FROM friendships
    WHERE ${IS_OVERDUE} ORDER BY coalesce(requested_at, updated_at) LIMIT ${BATCH}`,
);

/** An ignored request ends, too: its sender must not see by its end whether it was ignored. */
const endOverdue = statement<unknown, 'userIds' | 'friendIds'>(
  'end-overdue-requests',
  `WITH request AS MATERIALIZED (
     SELECT user_id, friend_id
       FROM unnest(:userIds::text[], :friendIds::text[]) AS found (user_id, friend_id)
       JOIN friendships USING (user_id, friend_id)
      WHERE ${IS_OVERDUE}),
   side AS MATERIALIZED (
     SELECT user_id, friend_id FROM request UNION SELECT friend_id, user_id FROM request)
   UPDATE friendships SET status = ${DELETED} FROM side
    WHERE friendships.user_id = side.user_id AND friendships.friend_id = side.friend_id
      AND status IN (${REQUESTING}, ${REQUESTED}, ${IGNORED})
   RETURNING friendships.user_id`,
);

export class FriendshipsRepository {
  constructor(private readonly db: Knex) {}

  /** Newest first. */
  async list(userId: string): Promise<Friendship[]> {
    return newestFirst((after) => pageOfFriendships(this.db, { userId, after }));
  }

  /** Of the owner of the session that `reads` finds. */
  async friend(friendId: string, reads: Runner): Promise<Friend | undefined> {
    const [found] = await friend(reads, { userId: OWNER, friendId });
    return found;
  }

  /**
   * Those of the two who have an open account. Until the end of the transaction nobody else changes what is between the
   * two, but for services that write in SQL.
   */
  async lock(two: Two): Promise<string[]> {
    return this.lockUsers([two.userId, two.friendId]);
  }

  /** Nothing is locked. */
  async ownStatus(two: Two): Promise<number | undefined> {
    const [side] = await ownStatus(this.db, { ...two });
    return side?.status;
  }

  async relation(two: Two, most: Most): Promise<Relation> {
    const sides = await lockSides(this.db, { ...two });
    const [told] = await standing(this.db, { ...two, ...most });
    if (told === undefined) throw new Error('two users stand in no way to each other');
    return {
      ...told,
      mine: sides.find(({ userId }) => userId === two.userId),
      theirs: sides.find(({ userId }) => userId === two.friendId),
    };
  }

  async request(two: Two, before: Relation, message: string): Promise<void> {
    const mine: NewSide = { ...two, status: REQUESTING };
    const theirs: NewSide = { ...turned(two), status: REQUESTED, message };
    await this.save([mine, theirs], two, before);
  }

  async befriend(two: Two, before: Relation): Promise<void> {
    const mine: NewSide = { ...two, status: FRIENDS };
    const theirs: NewSide = { ...turned(two), status: FRIENDS };
    await this.save(before.theirs?.status === FRIENDS ? [mine] : [mine, theirs], two, before);
  }

  /** False when nothing was requested. */
  async ignore(two: Two): Promise<boolean> {
    const changed = await this.side(two, REQUESTED).update({ status: IGNORED });
    if (changed > 0) return true;
    const ignored: unknown[] = await this.side(two, IGNORED).select('status');
    return ignored.length > 0;
  }

  /** With both locked. False when the user has no open request. */
  async withdraw(two: Two): Promise<boolean> {
    return (await withdraw(this.db, { ...two })).some(({ userId }) => userId === two.userId);
  }

  /** Some of the requests that nobody has answered in time. */
  async overdue(): Promise<Two[]> {
    return overdue(this.db, {});
  }

  /** In a transaction. What was answered meanwhile stays. Returns how many sides have ended. */
  async endOverdue(requests: Two[]): Promise<number> {
    const [userIds, friendIds] = [requests.map(({ userId }) => userId), requests.map(({ friendId }) => friendId)];
    await this.lockUsers([...new Set([...userIds, ...friendIds])]);
    return (await endOverdue(this.db, { userIds, friendIds })).length;
  }

  /** False when the other is no friend, and has not asked. */
  async end(two: Two): Promise<boolean> {
    return (await this.side(two, FRIENDS, REQUESTED, IGNORED).update({ status: DELETED })) > 0;
  }

  /** False when they are no friends. */
  async rename(two: Two, displayName: string): Promise<boolean> {
    return (await this.side(two, FRIENDS).update({ display_name: displayName })) > 0;
  }

  private side({ userId, friendId }: Two, ...statuses: number[]): Knex.QueryBuilder {
    return this.db('friendships').where({ user_id: userId, friend_id: friendId }).whereIn('status', statuses);
  }

  private async lockUsers(ids: string[]): Promise<string[]> {
    return (await lockUsers(this.db, { ids })).map(({ id }) => id);
  }

  private async save(sides: NewSide[], { userId, friendId }: Two, before: Relation): Promise<void> {
    const saved = await saveSides(this.db, {
      userIds: sides.map((side) => side.userId),
      friendIds: sides.map((side) => side.friendId),
      statuses: sides.map(({ status }) => status),
      messages: sides.map(({ message = '' }) => message),
      seen: [...(before.mine ? [userId] : []), ...(before.theirs ? [friendId] : [])],
    });
    if (saved.length < sides.length) throw new Overtaken('another service has written between two users meanwhile');
  }
}

function turned({ userId, friendId }: Two): Two {
  return { userId: friendId, friendId: userId };
}
