/** How one of two sees the other. */
export const REQUESTING = 10;
export const REQUESTED = 11;
export const FRIENDS = 20;
export const IGNORED = 21;
export const DELETED = 30;

export type FriendStatus = typeof REQUESTING | typeof REQUESTED | typeof FRIENDS | typeof IGNORED | typeof DELETED;

const DAY_SECONDS = 86_400;
const AFTER_NO_ANSWER_SECONDS = 3 * DAY_SECONDS;
const AFTER_IGNORED_SECONDS = DAY_SECONDS;

/** Two users, as one of them names them. */
export interface Two {
  userId: string;
  friendId: string;
}

/** What there is between two, as one of them has it. */
export interface Side {
  status: FriendStatus;
  /** Nothing has answered the last request on this side: it is open, or has ended by itself. */
  isUnanswered: boolean;
  requestedSecondsAgo: number;
  answeredSecondsAgo: number;
}

/** How many friendships a user may have. 0: any number. */
export interface Most {
  friends: number;
  /** Of others that are not answered yet. */
  requests: number;
}

/** What else there is to know of the two. */
export interface Standing {
  /** I am on their blacklist. */
  isBlacklisted: boolean;
  /** I may have one friend more. */
  hasRoom: boolean;
  /** The same, with my own requests counted as friends. */
  hasRoomToAsk: boolean;
  /** They may have one friend more. */
  isOpenToFriends: boolean;
  /** They may have one request more. */
  isOpenToRequests: boolean;
}

export interface Relation extends Standing {
  mine: Side | undefined;
  theirs: Side | undefined;
}

/** Sent: they are asked. Added: we are friends now. None: nothing has changed. */
export const ACTIONS = ['Sent', 'Added', 'None'] as const;

export type Action = (typeof ACTIONS)[number];

/** What comes of an invitation where not both have the other as a friend. */
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

/** A withdrawn request counts like one that is still open: to withdraw it does not shorten the wait. */
function hasAskedInVain({ status, isUnanswered }: Side): boolean {
  return status === REQUESTING || (status === DELETED && isUnanswered);
}

/** A friend, and somebody who was asked already, have been counted. */
export function hasRoomToInvite({ mine, hasRoomToAsk }: Relation): boolean {
  return hasRoomToAsk || mine?.status === REQUESTING || mine?.status === FRIENDS;
}

/** An invitation where only one side has the other as a friend is a new request, or brings the friendship back. */
export function areFriends({ mine, theirs }: Relation): boolean {
  return mine?.status === FRIENDS && theirs?.status === FRIENDS;
}

/** What comes of agreeing, where the two are no friends yet. What the other side does not allow looks like no request. */
export function isAsked({ mine, theirs, isBlacklisted, isOpenToFriends }: Relation): boolean {
  const isOpen = (mine?.status === REQUESTED || mine?.status === IGNORED) && theirs?.status === REQUESTING;
  return isOpen && !isBlacklisted && isOpenToFriends;
}

function sentAfter(seconds: number, secondsAgo: number): Action {
  return secondsAgo >= seconds ? 'Sent' : 'None';
}
