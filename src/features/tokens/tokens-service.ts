import { BadRequest, NotSignedIn } from '../../base/errors';
import { OWNER, type Reader } from '../../database/owner-reads';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { Uploader } from '../../../packages/image-server/src';
import type { ImageStorage, UploadToken } from '../../integrations/storage/image-storage';
import { publicIdOf } from '../sessions/sessions-repository';
import type { UsersRepository } from '../users/users-repository';
import type { AudienceTokens } from './audience-tokens';

interface SessionReader extends Reader {
  readonly session: { sid: string };
}

/** Tokens for the messaging server, for other services, and for image uploads. */
export class TokensService {
  constructor(
    private readonly users: UsersRepository,
    private readonly messaging: MessagingProvider,
    private readonly storage: ImageStorage,
    private readonly audiences: AudienceTokens,
  ) {}

  async messagingToken(reader: SessionReader, publicUrl: string): Promise<{ id: string; token: string }> {
    const user = await this.users.profile(OWNER, reader.reads);
    if (user === undefined) throw new NotSignedIn();
    const token = await this.messaging.token(user, reader.session, publicUrl);
    if (token === undefined) throw new NotSignedIn();
    return { id: user.id, token };
  }

  /** The session that is found has not ended. A token that is given out lasts a few minutes longer at most. */
  async audienceToken(
    reader: SessionReader,
    audience: string,
    publicUrl: string,
  ): Promise<{ id: string; token: string }> {
    const user = await this.users.profile(OWNER, reader.reads);
    if (user === undefined) throw new NotSignedIn();
    const token = await this.audiences.token(audience, user.id, publicIdOf(reader.session.sid), publicUrl);
    if (token === undefined) throw new BadRequest('unknown_audience', 'audience: the operator does not list it');
    return { id: user.id, token };
  }

  /** Returns a token under the credentials version of the session: by now the password may have changed. */
  uploadToken({ userId, credentialsVersion }: Uploader, publicUrl: string): UploadToken {
    return this.storage.uploadToken({ userId, credentialsVersion }, publicUrl);
  }
}
