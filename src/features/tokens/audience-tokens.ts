import type { JwtSigner } from '../../integrations/messaging/jwt-signer';

/** Other services do not ask whether the session has ended since. */
export const AUDIENCE_TOKEN_SECONDS = 300;

/** Tokens by which other services of the operator know the user and the session of a request, without a call. */
export class AudienceTokens {
  constructor(
    private readonly signer: Pick<JwtSigner, 'sign'> | undefined,
    private readonly audiences: string[],
  ) {}

  /** Returns undefined for a service that the operator does not list. */
  async token(audience: string, subject: string, sessionId: string, publicUrl: string): Promise<string | undefined> {
    if (!this.audiences.includes(audience)) return undefined;
    return this.signer?.sign({ subject, audience, sessionId }, AUDIENCE_TOKEN_SECONDS, publicUrl);
  }
}
