import type { Knex } from 'knex';
import { newestFirst, type TimedRow } from '../../database/newest-first';
import { OWNER } from '../../database/owner-reads';
import { PAGE } from '../../database/pages';
import { statement, type Runner } from '../../database/statement';
import { Overtaken } from '../../database/transaction';
import { lockOpenUsers } from '../users/lock-open-users';
import { addNames } from '../users/names';
import type { Names, Person } from '../users/profile';
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
  type Openness,
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
const pageOfFriendships = statement<Omit<Friendship, 'updatedAt' | keyof Names> & TimedRow, 'userId' | 'after'>(
  'page-of-friendships',
  `SELECT friend_id AS id, display_name AS "displayName", message, status,
          (extract(epoch FROM updated_at) * 1000000)::float8 AS "updatedMicros"
     FROM friendships WHERE user_id = :userId AND status <> ${DELETED} AND friend_id > :after
    ORDER BY friend_id LIMIT ${PAGE}`,
  { prepared: false },
);

const friend = statement<Omit<Friend, keyof Names>, keyof Pair>(
  'friend',
  `SELECT friend_id AS id, display_name AS "displayName" FROM friendships
    WHERE user_id = :userId AND friend_id = :friendId AND status = ${FRIENDS}`,
);

/** Locks the row too, since other services write it without locking the users. */
const lockSide = statement<Side, keyof Pair>(
  'lock-side',
  `SELECT status,
          coalesce(requested_at > coalesce(answered_at, '-infinity'), false) AS "isUnanswered",
          extract(epoch FROM now() - coalesce(requested_at, updated_at))::float8 AS "requestedSecondsAgo",
          extract(epoch FROM now() - coalesce(answered_at, updated_at))::float8 AS "answeredSecondsAgo"
     FROM friendships WHERE user_id = :userId AND friend_id = :friendId FOR NO KEY UPDATE`,
);

/** Reads the own side without a lock. */
const ownStatus = statement<{ status: number }, keyof Pair>(
  'own-side-of-friendship',
  'SELECT status FROM friendships WHERE user_id = :userId AND friend_id = :friendId',
);

/** Returns SQL for whether the user has fewer than `most` friendships of these kinds. It counts up to `most`. */
function room(kinds: string, most: string): string {
  return `(${most}::integer = 0 OR ${most} > (
    SELECT count(*) FROM (SELECT FROM friendships WHERE user_id = :userId AND status IN (${kinds}) LIMIT ${most}) counted))`;
}

const ownRoom = statement<Pick<Openness, 'hasRoom' | 'hasRoomToAsk'>, 'userId' | 'friends'>(
  'room-for-friends',
  `SELECT ${room(`${FRIENDS}`, ':friends')} AS "hasRoom",
          ${room(`${FRIENDS}, ${REQUESTING}`, ':friends')} AS "hasRoomToAsk"`,
);

/** Facts about the user that the friend must not learn. The statement is the same whatever the relation of the two is. */
const openness = statement<Omit<Openness, 'hasRoom' | 'hasRoomToAsk'>, keyof Pair | keyof Most>(
  'openness-to-friend',
  `SELECT EXISTS (SELECT FROM blacklist WHERE user_id = :userId AND friend_id = :friendId AND status) AS "isBlacklisted",
          ${room(`${FRIENDS}`, ':friends')} AS "isOpenToFriends",
          ${room(`${REQUESTED}`, ':requests')} AS "isOpenToRequests"`,
);

/** Overwrites only a row that was seen and locked, not one that another service has inserted since. */
const saveSide = statement<unknown, keyof Pair | 'status' | 'message' | 'wasSeen'>(
  'save-side',
  `INSERT INTO friendships (user_id, friend_id, status, message)
     VALUES (:userId, :friendId, :status, :message)
   ON CONFLICT (user_id, friend_id) DO UPDATE
     SET status = excluded.status, message = excluded.message,
         requested_at = coalesce(excluded.requested_at, friendships.requested_at)
     WHERE :wasSeen::boolean
   RETURNING user_id`,
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
    return newestFirst(async (after) => addNames(this.db, await pageOfFriendships(this.db, { userId, after })));
  }

  /** Returns a friend of the owner of the session that `reads` finds. */
  async friend(friendId: string, reads: Runner): Promise<Friend | undefined> {
    const [found] = await addNames(reads, await friend(reads, { userId: OWNER, friendId }));
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
    const { userId, friendId } = two;
    const sides = new Map<string, Side | undefined>();
    for (const side of inOrder([two, turned(two)])) sides.set(side.userId, (await lockSide(this.db, { ...side }))[0]);
    const [own] = await ownRoom(this.db, { userId, friends: most.friends });
    const [other] = await openness(this.db, { ...turned(two), ...most });
    if (own === undefined || other === undefined) throw new Error('the openness of two users returned no row');
    return { ...own, ...other, mine: sides.get(userId), theirs: sides.get(friendId) };
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
    const isWithdrawn = (await this.side(two, REQUESTING).update({ status: DELETED })) > 0;
    if (isWithdrawn) await this.side(turned(two), REQUESTED, IGNORED).update({ status: DELETED });
    return isWithdrawn;
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

  private async save(sides: NewSide[], { userId }: Pair, before: Relation): Promise<void> {
    for (const side of inOrder(sides)) {
      const { message = '' } = side;
      const wasSeen = (side.userId === userId ? before.mine : before.theirs) !== undefined;
      const saved = await saveSide(this.db, { ...side, message, wasSeen });
      if (saved.length === 0)
        throw new Overtaken('another service has changed the relation of two users at the same time');
    }
  }
}

function turned({ userId, friendId }: Pair): Pair {
  return { userId: friendId, friendId: userId };
}

/** Sorts sides by their users, so that two invitations lock them in one order. */
function inOrder<Of extends Pair>(sides: Of[]): Of[] {
  return sides.toSorted((one, other) => (one.userId < other.userId ? -1 : 1));
}
