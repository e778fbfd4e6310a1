import { operation, type Operation } from '../../http/operation';
import * as schemas from './friendships-schemas';
import type { FriendshipsService } from './friendships-service';

export function friendshipsRouter(friendships: FriendshipsService): Operation[] {
  return [
    operation({
      path: '/friendship/invite',
      summary: 'Asks a user to be friends, or makes them friends if the other has already asked.',
      access: 'user',
      body: schemas.invitation,
      result: schemas.action,
      queue: 'writes',
      refusals: ['unknown_user', 'not_yourself', 'already_friends', 'too_many_friends'],
      limits: ['friendRequestsPerDay'],
      handle: async ({ friendId, message }, { userId }) => ({
        action: await friendships.invite({ userId, friendId }, message),
      }),
    }),
    operation({
      path: '/friendship/agree',
      summary: 'Agrees to a request to be friends.',
      access: 'user',
      body: schemas.friend,
      queue: 'writes',
      refusals: ['nothing_requested', 'too_many_friends'],
      handle: ({ friendId }, { userId }) => friendships.agree({ userId, friendId }),
    }),
    operation({
      path: '/friendship/ignore',
      summary: 'Ignores a request, without telling the other user.',
      access: 'user',
      body: schemas.friend,
      queue: 'writes',
      refusals: ['nothing_requested'],
      handle: ({ friendId }, { userId }) => friendships.ignore({ userId, friendId }),
    }),
    operation({
      path: '/friendship/withdraw',
      summary: "Withdraws the user's own unanswered request.",
      access: 'user',
      body: schemas.friend,
      queue: 'writes',
      refusals: ['nothing_requested'],
      handle: ({ friendId }, { userId }) => friendships.withdraw({ userId, friendId }),
    }),
    operation({
      path: '/friendship/delete',
      summary: "Ends a friendship, or a received request, on the user's own side.",
      access: 'user',
      body: schemas.friend,
      queue: 'writes',
      refusals: ['not_friends'],
      handle: ({ friendId }, { userId }) => friendships.end({ userId, friendId }),
    }),
    operation({
      path: '/friendship/set_display_name',
      summary: 'Gives a friend a name that only the user sees.',
      access: 'user',
      body: schemas.displayed,
      queue: 'writes',
      limits: ['displayNamesPerHour'],
      refusals: ['not_friends'],
      handle: ({ friendId, displayName }, { userId }) => friendships.rename({ userId, friendId }, displayName),
    }),
    operation({
      path: '/friendship/all',
      summary: "Returns the user's friends and requests, the latest change first.",
      access: 'user',
      result: schemas.friendships,
      queue: 'heavyReads',
      handle: async (_input, { userId }) => (await friendships.list(userId)).map(schemas.friendshipView),
    }),
    operation({
      path: '/friendship/:friendId/profile',
      summary: 'Returns a friend, and the name that the user has given.',
      access: 'reader',
      params: schemas.friend,
      result: schemas.friendView,
      refusals: ['not_friends'],
      handle: async ({ friendId }, { reads }) => schemas.viewOf(await friendships.friend(friendId, reads)),
    }),
  ];
}
