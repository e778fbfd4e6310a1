import type { Caller } from '../../caller';
import type { Runner } from '../../database/statement';
import { retrying, type Transaction } from '../../database/transaction';
import { BadRequest, NotFound, NotSignedIn } from '../../errors';
import type { Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Friend, Friendship, FriendshipsRepository } from './friendships-repository';
import { actionOf, FRIENDS, IGNORED, REQUESTED, REQUESTING, type Action, type Relation, type Two } from './invitation';

export interface FriendshipsParts {
  friendships: FriendshipsRepository;
  transaction: Transaction<{ friendships: FriendshipsRepository }>;
  limiter: Limiter;
  limits: Pick<Limits, 'friendRequestsPerDay'>;
}

export class FriendshipsService {
  constructor(private readonly parts: FriendshipsParts) {}

  async list(userId: string): Promise<Friendship[]> {
    return this.parts.friendships.list(userId);
  }

  async friend(friendId: string, reads: Runner): Promise<Friend> {
    const friend = await this.parts.friendships.friend(friendId, reads);
    if (!friend) throw new NotFound('not_friends', 'friendId: no friend of yours');
    return friend;
  }

  async invite(two: Two, message: string, caller: Caller): Promise<Action> {
    const { userId, friendId } = two;
    if (friendId === userId) throw new BadRequest('not_yourself', 'friendId: you cannot invite yourself');
    const { transaction, limiter, limits } = this.parts;
    await limiter.take(caller, { limit: limits.friendRequestsPerDay, subject: userId });
    return transaction(async ({ friendships }) => {
      const open = await friendships.lock(two);
      if (!open.includes(userId)) throw new NotSignedIn();
      if (!open.includes(friendId)) throw new BadRequest('unknown_user', 'friendId: no such user');
      const relation = await friendships.relation(two);
      if (relation.mine?.status === FRIENDS)
        throw new BadRequest('already_friends', 'friendId: a friend of yours already');
      const action = actionOf(relation);
      if (action === 'Sent') await friendships.request(two, relation, message);
      if (action === 'Added') await friendships.befriend(two, relation);
      return action;
    });
  }

  /** Agreeing again changes nothing. A request that was ignored is still open, and can be agreed to. */
  async agree(two: Two): Promise<void> {
    await this.parts.transaction(async ({ friendships }) => {
      const open = await friendships.lock(two);
      if (!open.includes(two.userId)) throw new NotSignedIn();
      const relation = await friendships.relation(two);
      if (relation.mine?.status === FRIENDS) return;
      if (!open.includes(two.friendId) || !isAsked(relation))
        throw new NotFound('nothing_requested', 'friendId: nothing was requested');
      await friendships.befriend(two, relation);
    });
  }

  async ignore(two: Two): Promise<void> {
    const isIgnored = await retrying(() => this.parts.friendships.ignore(two));
    if (!isIgnored) throw new NotFound('nothing_requested', 'friendId: nothing was requested');
  }

  /** The other side keeps its own. */
  async end(two: Two): Promise<void> {
    const wereFriends = await retrying(() => this.parts.friendships.end(two));
    if (!wereFriends) throw new NotFound('not_friends', 'friendId: no friend of yours');
  }

  async rename(two: Two, displayName: string): Promise<void> {
    const areFriends = await retrying(() => this.parts.friendships.rename(two, displayName));
    if (!areFriends) throw new NotFound('not_friends', 'friendId: no friend of yours');
  }
}

function isAsked({ mine, theirs }: Relation): boolean {
  return (mine?.status === REQUESTED || mine?.status === IGNORED) && theirs?.status === REQUESTING;
}
