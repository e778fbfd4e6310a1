import { BadRequest, NotFound, NotSignedIn } from '../../base/errors';
import type { Runner } from '../../database/statement';
import type { Transaction } from '../../database/transaction';
import type { Friend, Friendship, FriendshipsRepository } from './friendships-repository';
import {
  actionOf,
  areFriends,
  FRIENDS,
  hasRoomToInvite,
  IGNORED,
  isAsked,
  REQUESTED,
  REQUESTING,
  type Action,
  type Most,
  type Pair,
} from './invitation';

export class FriendshipsService {
  constructor(
    private readonly friendships: FriendshipsRepository,
    private readonly transaction: Transaction<{ friendships: FriendshipsRepository }>,
    private readonly most: Most,
  ) {}

  async list(userId: string): Promise<Friendship[]> {
    return this.friendships.list(userId);
  }

  async friend(friendId: string, reads: Runner): Promise<Friend> {
    const friend = await this.friendships.friend(friendId, reads);
    if (!friend) throw new NotFound('not_friends', 'friendId: is not your friend');
    return friend;
  }

  async invite(two: Pair, message: string): Promise<Action> {
    const { userId, friendId } = two;
    if (friendId === userId) throw new BadRequest('not_yourself', 'friendId: you cannot invite yourself');
    return this.transaction(async ({ friendships }) => {
      const open = await friendships.lock(two);
      if (!open.includes(userId)) throw new NotSignedIn();
      if (!open.includes(friendId)) throw new BadRequest('unknown_user', 'friendId: no such user');
      const relation = await friendships.relation(two, this.most);
      if (areFriends(relation)) throw new BadRequest('already_friends', 'friendId: is your friend already');
      // Checked whatever the other side is, so that the answer does not reveal anything about it.
      if (!hasRoomToInvite(relation)) throw this.tooManyFriends();
      const action = actionOf(relation);
      if (action === 'Sent') await friendships.request(two, relation, message);
      if (action === 'Added') await friendships.befriend(two, relation);
      return action;
    });
  }

  /** Accepts a request. Agreeing again changes nothing. An ignored request is still open, and can be accepted. */
  async agree(two: Pair): Promise<void> {
    await this.transaction(async ({ friendships }) => {
      // First without a lock, so that neither strangers nor friends who agree again can make the other user wait.
      const status = await friendships.ownStatus(two);
      if (status === FRIENDS) return;
      if (status !== REQUESTED && status !== IGNORED) throw nothingRequested();
      const open = await friendships.lock(two);
      if (!open.includes(two.userId)) throw new NotSignedIn();
      const relation = await friendships.relation(two, this.most);
      if (relation.mine?.status === FRIENDS) return;
      if (!open.includes(two.friendId) || !isAsked(relation)) throw nothingRequested();
      if (!relation.hasRoom) throw this.tooManyFriends();
      await friendships.befriend(two, relation);
    });
  }

  async ignore(two: Pair): Promise<void> {
    const isIgnored = await this.friendships.ignore(two);
    if (!isIgnored) throw nothingRequested();
  }

  /** Ends a request of the user, on both sides. */
  async withdraw(two: Pair): Promise<void> {
    await this.transaction(async ({ friendships }) => {
      // First without a lock, as in agree.
      if ((await friendships.ownStatus(two)) !== REQUESTING) throw nothingRequested();
      await friendships.lock(two);
      if (!(await friendships.withdraw(two))) throw nothingRequested();
    });
  }

  /** Ends requests that were not answered in time, one batch per transaction. */
  async sweep(): Promise<void> {
    for (let isMore = true; isMore;) {
      const overdue = await this.friendships.overdue();
      isMore = overdue.length > 0 && (await this.transaction((repos) => repos.friendships.endOverdue(overdue))) > 0;
    }
  }

  /** Ends a friendship, or a received request, on the own side. The other side does not change. */
  async end(two: Pair): Promise<void> {
    const hasEnded = await this.friendships.end(two);
    if (!hasEnded) throw new NotFound('not_friends', 'friendId: is not your friend');
  }

  async rename(two: Pair, displayName: string): Promise<void> {
    const areFriends = await this.friendships.rename(two, displayName);
    if (!areFriends) throw new NotFound('not_friends', 'friendId: is not your friend');
  }

  private tooManyFriends(): BadRequest {
    return new BadRequest('too_many_friends', `you already have ${this.most.friends} friends and sent requests`);
  }
}

function nothingRequested(): NotFound {
  return new NotFound('nothing_requested', 'friendId: there is no pending request');
}
