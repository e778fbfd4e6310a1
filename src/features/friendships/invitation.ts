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
  requestedSecondsAgo: number;
  answeredSecondsAgo: number;
}

export interface Relation {
  mine: Side | undefined;
  theirs: Side | undefined;
  /** I am on their blacklist. */
  isBlacklisted: boolean;
}

/** Sent: they are asked. Added: we are friends now. None: nothing has changed. */
export const ACTIONS = ['Sent', 'Added', 'None'] as const;

export type Action = (typeof ACTIONS)[number];

/** What comes of my inviting somebody whom I do not have as a friend. */
export function actionOf({ mine, theirs, isBlacklisted }: Relation): Action {
  if (isBlacklisted) return 'None';
  if (theirs?.status === REQUESTING || theirs?.status === FRIENDS) return 'Added';
  if (theirs?.status === IGNORED) return sentAfter(AFTER_IGNORED_SECONDS, theirs.answeredSecondsAgo);
  if (theirs?.status === REQUESTED) return sentAfter(AFTER_NO_ANSWER_SECONDS, theirs.requestedSecondsAgo);
  if (mine?.status === REQUESTING) return sentAfter(AFTER_NO_ANSWER_SECONDS, mine.requestedSecondsAgo);
  return 'Sent';
}

function sentAfter(seconds: number, secondsAgo: number): Action {
  return secondsAgo >= seconds ? 'Sent' : 'None';
}
