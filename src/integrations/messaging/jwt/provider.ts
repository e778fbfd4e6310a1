import type { JwtSigner } from '../jwt-signer';
import type { Asker, MessagingProvider, MessagingUser } from '../messaging-provider';

export interface JwtMessagingOptions {
  ttlSeconds: number;
  /** Messaging server that the tokens are for. */
  audience?: string | undefined;
}

/** Tokens that a messaging server checks itself. They cannot be revoked, and last an hour by default. */
export class JwtMessagingProvider implements MessagingProvider {
  constructor(
    private readonly signer: Pick<JwtSigner, 'sign'>,
    private readonly options: JwtMessagingOptions,
  ) {}

  token({ id }: MessagingUser, _asker: Asker, publicUrl: string): Promise<string> {
    const { audience, ttlSeconds } = this.options;
    return this.signer.sign({ subject: id, audience }, ttlSeconds, publicUrl);
  }
}
