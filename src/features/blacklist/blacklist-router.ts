import { operation, type Operation } from '../../http/operation';
import { entries, friend } from './blacklist-schemas';
import type { BlacklistService } from './blacklist-service';

export function blacklistRouter(blacklist: BlacklistService): Operation[] {
  return [
    operation({
      path: '/user/blacklist',
      summary: "Returns the user's blacklist, the newest entry first.",
      access: 'user',
      result: entries,
      queue: 'heavyReads',
      handle: (_input, { userId }) => blacklist.list(userId),
    }),
    operation({
      path: '/user/add_to_blacklist',
      summary: "Adds a user to the caller's blacklist.",
      access: 'user',
      body: friend,
      queue: 'writes',
      refusals: ['unknown_user', 'not_yourself', 'blacklist_full'],
      limits: ['blacklistAddsPerHour'],
      handle: ({ friendId }, { userId }) => blacklist.add(userId, friendId),
    }),
    operation({
      path: '/user/remove_from_blacklist',
      summary: "Removes a user from the caller's blacklist.",
      access: 'user',
      body: friend,
      queue: 'writes',
      handle: ({ friendId }, { userId }) => blacklist.remove(userId, friendId),
    }),
  ];
}
