import { limit, oneOf, whole } from '../../base/formats';
import { rows, type Section, type Values } from '../../base/settings';

// prettier-ignore
const GROUPS = rows({
  GROUP_ADD: { kind: oneOf('friends', 'anyone'), default: 'friends',
    says: 'friends: a member can add only friends. anyone: a member can add every user.' },
  GROUP_JOIN: { kind: oneOf('open', 'closed'), default: 'open',
    says: `open: a user who has a group's id can join, unless kicked. closed: users get in only when a member adds
      them.` },
});

// prettier-ignore
const SIZES = rows({
  MAX_BLACKLIST: { kind: limit, default: 2_000,
    says: `Maximum users on a blacklist. Beyond it, add_to_blacklist is answered with 400. A list that is already longer
      stays.` },
  FRIENDS_PER_USER: { kind: limit, default: 0, production: 5_000,
    says: `Maximum friends of a user plus the user's own requests. Beyond it, invite and agree are answered with 400.
      The default is more people than anybody knows. It keeps a rename, which writes a row per friend, below a second.`
      },
  OPEN_REQUESTS_PER_USER: { kind: limit, default: 0, production: 1_000,
    says: `Maximum requests from others that a user has not answered. Beyond it, invite has no effect and answers None.`
      },
  GROUP_MAX_MEMBERS: { kind: whole(1, 1_000_000), default: 500,
    says: 'Maximum members of a group: 1 to 1000000. A group that already has more stays as it is.' },
  GROUPS_PER_USER: { kind: limit, default: 500,
    says: `Maximum groups that a user created and that were not dismissed, including groups transferred since. Beyond
      it, group/create is answered with return code 1000.` },
  GROUPS_JOINED_PER_USER: { kind: limit, default: 2_000,
    says: `Maximum groups that a user is in. Beyond it, joining and creating are answered with return code 1000, and
      others cannot add the user. The default keeps a rename, which writes a row per group, below a second.` },
});

export const SECTIONS: Section[] = [
  { title: 'Groups', rows: GROUPS, ours: ['GROUP', 'GROUPS'] },
  { title: 'Sizes of groups, friends and blacklists: 0, where allowed, lifts a limit', rows: SIZES },
];

export const ROWS = rows({ ...GROUPS, ...SIZES });

export function sizesOf(env: Values<typeof ROWS>) {
  return {
    maxBlacklist: env.MAX_BLACKLIST,
    mostFriendships: { friends: env.FRIENDS_PER_USER, requests: env.OPEN_REQUESTS_PER_USER },
    groups: {
      addFriendsOnly: env.GROUP_ADD === 'friends',
      joinable: env.GROUP_JOIN === 'open',
      maxMembers: env.GROUP_MAX_MEMBERS,
      /** 0: no limit. */
      maxPerUser: env.GROUPS_PER_USER,
      maxJoined: env.GROUPS_JOINED_PER_USER,
    },
  };
}
