export interface MessagingUser {
  id: string;
  nickname: string;
  portraitUri: string;
}

/** On what a token is asked for: a session, or the password, as of a version, when a session is only to begin. */
export type Asker = { sid: string } | { credentialsVersion: number };

/** Makes the tokens by which clients connect to the messaging server. */
export interface MessagingProvider {
  /**
   * Undefined when the session, or the password, has ended meanwhile. `publicUrl` is the address under which the caller
   * reached this service.
   */
  token(user: MessagingUser, asker: Asker, publicUrl: string): Promise<string | undefined>;
  /** Tells a changed nickname or portrait to a messaging server that keeps a copy. */
  profileChanged(user: MessagingUser): Promise<void>;
  /** The tokens that the user was given before this moment end, where the messaging server can do that. */
  endTokens(userId: string, before: Date): Promise<void>;
}
