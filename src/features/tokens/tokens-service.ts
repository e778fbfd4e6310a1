import { NotSignedIn } from '../../base/errors';
import { OWNER, type Reader } from '../../database/owner-reads';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { Uploader } from '../../../packages/image-server/src';
import type { ImageStorage, UploadToken } from '../../integrations/storage/image-storage';
import type { UsersRepository } from '../users/users-repository';

interface SessionReader extends Reader {
  readonly session: { sid: string };
}

/** Tokens for the messaging server and for image uploads. */
export class TokensService {
  constructor(
    private readonly users: UsersRepository,
    private readonly messaging: MessagingProvider,
    private readonly storage: ImageStorage,
  ) {}

  async messagingToken(reader: SessionReader, publicUrl: string): Promise<{ id: string; token: string }> {
    const user = await this.users.profile(OWNER, reader.reads);
    if (user === undefined) throw new NotSignedIn();
    const token = await this.messaging.token(user, reader.session, publicUrl);
    if (token === undefined) throw new NotSignedIn();
    return { id: user.id, token };
  }

  /** Returns a token under the credentials version of the session: by now the password may have changed. */
  uploadToken({ userId, credentialsVersion }: Uploader, publicUrl: string): UploadToken {
    return this.storage.uploadToken({ userId, credentialsVersion }, publicUrl);
  }
}
