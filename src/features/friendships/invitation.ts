/** Status of a friendship, on one of its two sides. */
export const REQUESTING = 10;
export const REQUESTED = 11;
export const FRIENDS = 20;
export const IGNORED = 21;
export const DELETED = 30;

export type FriendStatus = typeof REQUESTING | typeof REQUESTED | typeof FRIENDS | typeof IGNORED | typeof DELETED;

const DAY_SECONDS = 86_400;
const AFTER_NO_ANSWER_SECONDS = 3 * DAY_SECONDS;
const AFTER_IGNORED_SECONDS = DAY_SECONDS;

/** A user, and the other user. */
export interface Pair {
  userId: string;
  friendId: string;
}

/** One side of the relation of two users. */
export interface Side {
  status: FriendStatus;
  /** Whether the last request on this side was not answered: it is open, or has expired. */
  isUnanswered: boolean;
  requestedSecondsAgo: number;
  answeredSecondsAgo: number;
}

/** Maximum friendships of a user; 0: no limit. */
export interface Most {
  friends: number;
  /** Maximum received requests that are not answered yet. */
  requests: number;
}

/** Further facts about the two users. "I" am the user, "they" the other one. */
export interface Openness {
  /** I am on their blacklist. */
  isBlacklisted: boolean;
  /** I may have one more friend. */
  hasRoom: boolean;
  /** I may have one more friend, if my own requests count as friends. */
  hasRoomToAsk: boolean;
  /** They may have one more friend. */
  isOpenToFriends: boolean;
  /** They may have one more request. */
  isOpenToRequests: boolean;
}

export interface Relation extends Openness {
  mine: Side | undefined;
  theirs: Side | undefined;
}

/** `Sent`: they now have my request. `Added`: we are now friends. `None`: nothing has changed. */
export const ACTIONS = ['Sent', 'Added', 'None'] as const;

export type Action = (typeof ACTIONS)[number];

/** Returns the outcome of an invitation between users who are not friends on both sides. */
export function actionOf(relation: Relation): Action {
  const { mine, theirs, isBlacklisted, isOpenToFriends, isOpenToRequests } = relation;
  if (isBlacklisted) return 'None';
  if (theirs?.status === FRIENDS) return 'Added';
  if (theirs?.status === REQUESTING) return isOpenToFriends ? 'Added' : 'None';
  if (theirs?.status === REQUESTED) return sentAfter(AFTER_NO_ANSWER_SECONDS, theirs.requestedSecondsAgo);
  if (!isOpenToRequests) return 'None';
  if (theirs?.status === IGNORED) return sentAfter(AFTER_IGNORED_SECONDS, theirs.answeredSecondsAgo);
  if (mine === undefined || !hasAskedInVain(mine)) return 'Sent';
  // The other side may have ignored the request before it was withdrawn, or deleted it.
  const isAnsweredLately = theirs !== undefined && theirs.answeredSecondsAgo < AFTER_IGNORED_SECONDS;
  return isAnsweredLately ? 'None' : sentAfter(AFTER_NO_ANSWER_SECONDS, mine.requestedSecondsAgo);
}

/** Whether a request was not answered. A withdrawn one counts too, so that withdrawing does not shorten the wait. */
function hasAskedInVain({ status, isUnanswered }: Side): boolean {
  return status === REQUESTING || (status === DELETED && isUnanswered);
}

/** Whether there is room for an invitation. An existing friend or request is already counted. */
export function hasRoomToInvite({ mine, hasRoomToAsk }: Relation): boolean {
  return hasRoomToAsk || mine?.status === REQUESTING || mine?.status === FRIENDS;
}

/** Whether both sides are friends. If only one is, an invitation is a new request, or restores the friendship. */
export function areFriends({ mine, theirs }: Relation): boolean {
  return mine?.status === FRIENDS && theirs?.status === FRIENDS;
}

/** Whether there is a request that can be accepted. If the other side does not allow it, it looks like no request. */
export function isAsked({ mine, theirs, isBlacklisted, isOpenToFriends }: Relation): boolean {
  const isOpen = (mine?.status === REQUESTED || mine?.status === IGNORED) && theirs?.status === REQUESTING;
  return isOpen && !isBlacklisted && isOpenToFriends;
}

function sentAfter(seconds: number, secondsAgo: number): Action {
  return secondsAgo >= seconds ? 'Sent' : 'None';
}
