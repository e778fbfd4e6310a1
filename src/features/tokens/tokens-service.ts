import { NotSignedIn } from '../../errors';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { ImageStorage, UploadToken } from '../../integrations/storage/image-storage';
import type { UsersRepository } from '../users/users-repository';

/** Tokens for the messaging server and for image uploads. */
export class TokensService {
  constructor(
    private readonly users: UsersRepository,
    private readonly messaging: MessagingProvider,
    private readonly storage: ImageStorage,
  ) {}

  async messagingToken(userId: string, publicUrl: string): Promise<string> {
    const user = await this.users.profile(userId);
    if (!user) throw new NotSignedIn();
    return this.messaging.token(user, publicUrl);
  }

  async uploadToken(userId: string, publicUrl: string): Promise<UploadToken> {
    const account = await this.users.account(userId);
    if (!account) throw new NotSignedIn();
    return this.storage.uploadToken({ userId, credentialsVersion: account.credentialsVersion }, publicUrl);
  }
}
