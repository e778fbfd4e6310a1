export interface MessagingUser {
  id: string;
  nickname: string;
  portraitUri: string;
}

/** Gives a client what it needs to connect to the messaging server as this user. */
export interface MessagingProvider {
  /** `publicUrl` is the address under which the caller reached this service. */
  token(user: MessagingUser, publicUrl: string): Promise<string>;
  /** Passes a changed nickname or portrait on, where the messaging server keeps a copy. */
  profileChanged(user: MessagingUser): Promise<void>;
}
