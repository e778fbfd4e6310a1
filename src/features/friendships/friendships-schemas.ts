import { z } from 'zod';
import { characters, described, inLine, PLAIN, time } from '../../base/schemas';
import { otherId, person } from '../users/profile';
import type { Friend, Friendship } from './friendships-repository';
import { ACTIONS, DELETED, FRIENDS, IGNORED, REQUESTED, REQUESTING } from './invitation';

/** The id of a friend, or of the other user of a request. */
export const friend = z
  .object({ friendId: otherId })
  .meta({ id: 'OneFriend', description: 'A friend, or a user who asked to be one.' });

const hello = described(inLine(characters(0, 64)), {
  description: `Up to 64 characters. Default: empty. ${PLAIN}`,
  examples: ['Hello'],
});

export const invitation = z
  .object({ friendId: otherId, message: hello.default('') })
  .meta({ id: 'Invitation', description: 'A user to ask, with a message.' });

export const displayed = z
  .object({
    friendId: otherId,
    displayName: described(inLine(characters(0, 32)), {
      description: `Up to 32 characters; empty for none. ${PLAIN}`,
      examples: ['Annie'],
    }),
  })
  .meta({ id: 'NewFriendName', description: "The user's name for a friend." });

export const action = z
  .strictObject({
    action: z.enum(ACTIONS).meta({
      id: 'InvitationAction',
      description: '`Sent`: the other user is asked. `Added`: they are friends now. `None`: nothing has changed.',
    }),
  })
  .meta({ id: 'InvitationOutcome', description: 'The result of the invitation.' });

/** Statuses by the names that clients use. */
const STATUSES = { requesting: REQUESTING, requested: REQUESTED, friends: FRIENDS, ignored: IGNORED, deleted: DELETED };

export const friendStatus = z.literal(Object.values(STATUSES)).meta({
  id: 'FriendStatus',
  type: 'integer',
  description: '10: requested by me. 11: requested of me. 20: friends. 21: ignored. 30: deleted.',
  'x-enum-varnames': Object.keys(STATUSES),
});

const displayName = z
  .string()
  .meta({ description: "The user's name for the friend; empty if there is none.", examples: ['Annie'] });

export const friendView = z
  .strictObject({ displayName, user: person })
  .meta({ id: 'Friend', description: 'A friend.' });

const friendship = friendView
  .extend({
    message: z.string().meta({ description: 'The message of the request, until it is answered.', examples: [''] }),
    status: friendStatus,
    updatedAt: time,
  })
  .meta({ id: 'Friendship', description: "The user's side of a friendship or a request." });

export const friendships = z.array(friendship);

export function viewOf({ displayName, id, nickname, portraitUri }: Friend): z.infer<typeof friendView> {
  return { displayName, user: { id, nickname, portraitUri } };
}

export function friendshipView({ message, status, updatedAt, ...friend }: Friendship): z.infer<typeof friendship> {
  return { ...viewOf(friend), message, status, updatedAt };
}
