import type { Foundation } from '../../foundation/foundation';
import type { JwtSigner } from '../../integrations/messaging/jwt-signer';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { ImageStorage } from '../../integrations/storage/image-storage';
import type { UsersRepository } from '../users/users-repository';
import { AudienceTokens } from './audience-tokens';
import { TokensService } from './tokens-service';

type Needs = Foundation<{ users: UsersRepository }> & {
  messaging: MessagingProvider;
  signer: JwtSigner | undefined;
  storage: ImageStorage;
};

/** `audiences`: other services that tokens are signed for. */
export function buildTokens({ repos, messaging, signer, storage }: Needs, audiences: string[]) {
  const tokens = new TokensService(repos.users, messaging, storage, new AudienceTokens(signer, audiences));
  return { tokens, part: { events: ['tokens.ended'] } };
}
