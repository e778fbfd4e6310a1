import type { Knex } from 'knex';
import { newestFirst, type TimedRow } from '../../database/newest-first';
import { OWNER } from '../../database/owner-reads';
import { PAGE } from '../../database/pages';
import { statement, type Runner } from '../../database/statement';
import { Overtaken } from '../../database/transaction';
import { lockOpenUsers } from '../users/lock-open-users';
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
  type Pair,
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

/** New state of one side. */
interface NewSide extends Pair {
  status: FriendStatus;
  message?: string;
}

/** Pages by id: no write moves a row past a page. Not prepared, so that PostgreSQL plans for the list's length. */
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

const friend = statement<Friend, keyof Pair>(
  'friend',
  `SELECT friend_id AS id, display_name AS "displayName",
          coalesce(nickname, '') AS nickname, coalesce(portrait_uri, '') AS "portraitUri"
     FROM friendships LEFT JOIN users ON users.id = friend_id
    WHERE user_id = :userId AND friend_id = :friendId AND status = ${FRIENDS}`,
);

/** Locks the rows too, since other services write them without locking the users. */
const lockSides = statement<Side & { userId: string }, keyof Pair>(
  'lock-two-sides',
  `SELECT user_id AS "userId", status,
          coalesce(requested_at > coalesce(answered_at, '-infinity'), false) AS "isUnanswered",
          extract(epoch FROM now() - coalesce(requested_at, updated_at))::float8 AS "requestedSecondsAgo",
          extract(epoch FROM now() - coalesce(answered_at, updated_at))::float8 AS "answeredSecondsAgo"
     FROM friendships
    WHERE (user_id = :userId AND friend_id = :friendId) OR (user_id = :friendId AND friend_id = :userId)
    ORDER BY user_id FOR NO KEY UPDATE`,
);

/** Reads the own side without a lock. */
const ownStatus = statement<{ status: number }, keyof Pair>(
  'own-side-of-friendship',
  'SELECT status FROM friendships WHERE user_id = :userId AND friend_id = :friendId',
);

/** Returns SQL for whether a user has fewer than `most` friendships of these kinds. It counts up to `most`. */
function room(userId: string, kinds: string, most: string): string {
  return `(${most}::integer = 0 OR ${most} > (
    SELECT count(*) FROM (SELECT FROM friendships WHERE user_id = ${userId} AND status IN (${kinds}) LIMIT ${most}) counted))`;
}

/** Facts that the user must not learn. The statement is the same whatever the relation of the two is. */
const standing = statement<Standing, keyof Pair | keyof Most>(
  'standing-between-two',
  `SELECT EXISTS (SELECT FROM blacklist WHERE user_id = :friendId AND friend_id = :userId AND status) AS "isBlacklisted",
          ${room(':userId', `${FRIENDS}`, ':friends')} AS "hasRoom",
          ${room(':userId', `${FRIENDS}, ${REQUESTING}`, ':friends')} AS "hasRoomToAsk",
          ${room(':friendId', `${FRIENDS}`, ':friends')} AS "isOpenToFriends",
          ${room(':friendId', `${REQUESTED}`, ':requests')} AS "isOpenToRequests"`,
);

/** Overwrites only rows that were seen and locked, not those that another service has inserted since. */
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

/** Ends a request, and its row on the other side if there is one. */
const withdraw = statement<{ userId: string }, keyof Pair>(
  'withdraw-request',
  `UPDATE friendships SET status = ${DELETED}
    WHERE (user_id = :userId AND friend_id = :friendId AND status = ${REQUESTING})
       OR (user_id = :friendId AND friend_id = :userId AND status IN (${REQUESTED}, ${IGNORED}))
   RETURNING user_id AS "userId"`,
);

const REQUEST_DAYS = 30;
/** Requests that one transaction ends: about 20 milliseconds of work, during which their users are locked. */
const BATCH = 100;
const IS_OVERDUE = `status IN (${REQUESTING}, ${REQUESTED})
      AND coalesce(requested_at, updated_at) < now() - interval '${REQUEST_DAYS} days'`;

const overdue = statement<Pair, never>(
  'overdue-requests',
  `SELECT user_id AS "userId", friend_id AS "friendId" FROM friendships
    WHERE ${IS_OVERDUE} ORDER BY coalesce(requested_at, updated_at) LIMIT ${BATCH}`,
);

/** Ends ignored requests too: the end of a request must not show its sender whether it was ignored. */
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

  /** Returns the friendships, newest first. */
  async list(userId: string): Promise<Friendship[]> {
    return newestFirst((after) => pageOfFriendships(this.db, { userId, after }));
  }

  /** Returns a friend of the owner of the session that `reads` finds. */
  async friend(friendId: string, reads: Runner): Promise<Friend | undefined> {
    const [found] = await friend(reads, { userId: OWNER, friendId });
    return found;
  }

  /**
   * Returns which of the two have an open account. Until the transaction ends, only other services, which write in SQL,
   * can change the relation of the two.
   */
  async lock(two: Pair): Promise<string[]> {
    return lockOpenUsers(this.db, [two.userId, two.friendId]);
  }

  /** Does not lock anything. */
  async ownStatus(two: Pair): Promise<number | undefined> {
    const [side] = await ownStatus(this.db, { ...two });
    return side?.status;
  }

  async relation(two: Pair, most: Most): Promise<Relation> {
    const sides = await lockSides(this.db, { ...two });
    const [told] = await standing(this.db, { ...two, ...most });
    if (told === undefined) throw new Error('the standing of two users returned no row');
    return {
      ...told,
      mine: sides.find(({ userId }) => userId === two.userId),
      theirs: sides.find(({ userId }) => userId === two.friendId),
    };
  }

  async request(two: Pair, before: Relation, message: string): Promise<void> {
    const mine: NewSide = { ...two, status: REQUESTING };
    const theirs: NewSide = { ...turned(two), status: REQUESTED, message };
    await this.save([mine, theirs], two, before);
  }

  async befriend(two: Pair, before: Relation): Promise<void> {
    const mine: NewSide = { ...two, status: FRIENDS };
    const theirs: NewSide = { ...turned(two), status: FRIENDS };
    await this.save(before.theirs?.status === FRIENDS ? [mine] : [mine, theirs], two, before);
  }

  /** Returns false without a request to ignore. */
  async ignore(two: Pair): Promise<boolean> {
    const changed = await this.side(two, REQUESTED).update({ status: IGNORED });
    if (changed > 0) return true;
    const ignored: unknown[] = await this.side(two, IGNORED).select('status');
    return ignored.length > 0;
  }

  /** Needs the lock of both. Returns false when the user does not have an open request. */
  async withdraw(two: Pair): Promise<boolean> {
    return (await withdraw(this.db, { ...two })).some(({ userId }) => userId === two.userId);
  }

  /** Returns a batch of requests that were not answered in time. */
  async overdue(): Promise<Pair[]> {
    return overdue(this.db, {});
  }

  /** Needs a transaction. Keeps requests that were answered since. Returns the number of sides that have ended. */
  async endOverdue(requests: Pair[]): Promise<number> {
    const [userIds, friendIds] = [requests.map(({ userId }) => userId), requests.map(({ friendId }) => friendId)];
    await lockOpenUsers(this.db, [...new Set([...userIds, ...friendIds])]);
    return (await endOverdue(this.db, { userIds, friendIds })).length;
  }

  /** Returns false when the other user is not a friend, and has not sent a request. */
  async end(two: Pair): Promise<boolean> {
    return (await this.side(two, FRIENDS, REQUESTED, IGNORED).update({ status: DELETED })) > 0;
  }

  /** Returns false when they are not friends. */
  async rename(two: Pair, displayName: string): Promise<boolean> {
    return (await this.side(two, FRIENDS).update({ display_name: displayName })) > 0;
  }

  private side({ userId, friendId }: Pair, ...statuses: number[]): Knex.QueryBuilder {
    return this.db('friendships').where({ user_id: userId, friend_id: friendId }).whereIn('status', statuses);
  }

  private async save(sides: NewSide[], { userId, friendId }: Pair, before: Relation): Promise<void> {
    const saved = await saveSides(this.db, {
      userIds: sides.map((side) => side.userId),
      friendIds: sides.map((side) => side.friendId),
      statuses: sides.map(({ status }) => status),
      messages: sides.map(({ message = '' }) => message),
      seen: [...(before.mine ? [userId] : []), ...(before.theirs ? [friendId] : [])],
    });
    if (saved.length < sides.length)
      throw new Overtaken('another service has changed the relation of two users at the same time');
  }
}

function turned({ userId, friendId }: Pair): Pair {
  return { userId: friendId, friendId: userId };
}
