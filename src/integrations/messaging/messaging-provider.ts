export interface MessagingUser {
  id: string;
  nickname: string;
  portraitUri: string;
}

/** Right to a token: a session or, before a session begins, a version of the password. */
export type Asker = { sid: string } | { credentialsVersion: number };

/** Makes the tokens by which clients connect to the messaging server. */
export interface MessagingProvider {
  /**
   * Returns a token; undefined if the session or password has ended since. `publicUrl` is the address under which the
   * client reached this service.
   */
  token(user: MessagingUser, asker: Asker, publicUrl: string): Promise<string | undefined>;
}

/** A change that an event told of. */
export interface Change {
  kind: string;
  /** Another user whom it concerns, or empty. */
  other: string;
  what: string;
  at: Date;
}

/** Changes that no event tells of: everything of a user or group, as it is now. Clients are shown nothing of them. */
export const ALL_OF = { user: 'user.all', group: 'group.all' };

/** The `what` of a change whose copy is only made equal again. Clients are shown nothing of it. */
export const AGAIN = 'again';

/** A messaging server that keeps copies of users and groups. */
export interface Follower {
  /** Events that concern it. */
  readonly kinds: string[];
  /** Kinds of changes by which its copies change. */
  readonly copiedKinds: string[];
  /** Makes the copy of a user or group equal, and shows these changes to its clients. May be told the same twice. */
  follow(subject: string, changes: Change[]): Promise<void>;
  /** Sets its clock, in milliseconds since 1970. */
  setTime(milliseconds: number): void;
}

/** Users and groups that a follower copies, as they are now. */
export interface Originals {
  /** Returns the open accounts among these. */
  users(ids: string[]): Promise<MessagingUser[]>;
  /** Returns whom of these the user has blacklisted. */
  blacklisted(userId: string, ids: string[]): Promise<string[]>;
  /** Returns whom the user has or had blacklisted. */
  everBlacklisted(userId: string): Promise<string[]>;
  /** Returns the text of the request that the user has from another one, or undefined without a request. */
  request(userId: string, fromId: string): Promise<string | undefined>;
  group(id: string): Promise<{ name: string; creatorId: string; isDismissed: boolean } | undefined>;
  /** Returns the members among these. */
  members(groupId: string, ids: string[]): Promise<string[]>;
  /** Returns its members, and those who have left it. */
  everMembers(groupId: string): Promise<string[]>;
}
