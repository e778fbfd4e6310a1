import { NotSignedIn } from '../../errors';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { ImageStorage, UploadToken } from '../../integrations/storage/image-storage';
import type { ProfilesRepository } from '../users/profiles-repository';

/** What a signed-in client needs to talk to the messaging server and the image storage. */
export class TokensService {
  constructor(
    private readonly profiles: ProfilesRepository,
    private readonly messaging: MessagingProvider,
    private readonly storage: ImageStorage,
  ) {}

  async messagingToken(userId: string, publicUrl: string): Promise<string> {
    const user = await this.profiles.byId(userId);
    if (!user) throw new NotSignedIn();
    return this.messaging.token(user, publicUrl);
  }

  uploadToken(userId: string, publicUrl: string): UploadToken {
    return this.storage.uploadToken(userId, publicUrl);
  }
}
