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
  /** Sends a changed nickname or portrait to a messaging server that keeps a copy. */
  profileChanged(user: MessagingUser): Promise<void>;
  /** Ends the tokens that the user got before this moment, if the messaging server supports it. */
  endTokens(userId: string, before: Date): Promise<void>;
}
