export interface MessagingUser {
  id: string;
  nickname: string;
  portraitUri: string;
}

/** Makes the tokens by which clients connect to the messaging server. */
export interface MessagingProvider {
  /** `publicUrl` is the address under which the caller reached this service. */
  token(user: MessagingUser, publicUrl: string): Promise<string>;
  /** Tells a changed nickname or portrait to a messaging server that keeps a copy. */
  profileChanged(user: MessagingUser): Promise<void>;
  /** The tokens that the user has now end, where the messaging server can do that. */
  endTokens(userId: string): Promise<void>;
}
