import type { Schemas } from './operations.ts';

export type FriendStatus = Schemas['FriendStatus'];

/** Names of the numbers in `status` of a friend. */
export const FriendStatus = {
  requesting: 10,
  requested: 11,
  friends: 20,
  ignored: 21,
  deleted: 30,
} as const satisfies Record<string, FriendStatus>;

export type GroupRole = Schemas['GroupRole'];

/** Names of the numbers in `role` of a member. */
export const GroupRole = { creator: 0, member: 1, manager: 2 } as const satisfies Record<string, GroupRole>;
