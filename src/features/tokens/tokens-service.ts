import { NotSignedIn } from '../../errors';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { ImageStorage, Uploader, UploadToken } from '../../integrations/storage/image-storage';
import type { UsersRepository } from '../users/users-repository';

/** Tokens for the messaging server and for image uploads. */
export class TokensService {
  constructor(
    private readonly users: UsersRepository,
    private readonly messaging: MessagingProvider,
    private readonly storage: ImageStorage,
  ) {}

  async messagingToken({ userId, sid }: { userId: string; sid: string }, publicUrl: string): Promise<string> {
    const user = await this.users.profile(userId);
    const token = user && (await this.messaging.token(user, { sid }, publicUrl));
    if (token === undefined) throw new NotSignedIn();
    return token;
  }

  /** Under the version that the session was found with: by now the password may be another one. */
  uploadToken({ userId, credentialsVersion }: Uploader, publicUrl: string): UploadToken {
    return this.storage.uploadToken({ userId, credentialsVersion }, publicUrl);
  }
}
