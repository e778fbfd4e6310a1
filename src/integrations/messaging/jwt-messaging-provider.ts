import { randomUUID, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Asker, MessagingProvider, MessagingUser } from './messaging-provider';
import { publicSigningKey, readSigningKey, type PublicSigningKey } from './signing-key';

export interface JwtMessagingOptions {
  /** See signing-key.ts for the accepted forms. */
  privateKey: string;
  ttlSeconds: number;
  /** Issuer. Default: the address under which the client reached this service. */
  issuer?: string | undefined;
  /** Messaging server that the tokens are for. */
  audience?: string | undefined;
  /** Previous key: its tokens stay valid until they expire. */
  oldKey?: string | undefined;
}

/**
 * Tokens that a messaging server checks itself: it needs the issuer and the public keys, and does not call this service.
 * Such a token cannot be revoked. It lasts an hour by default.
 */
export class JwtMessagingProvider implements MessagingProvider {
  private readonly privateKey: KeyObject;
  private readonly publicKey: PublicSigningKey;
  private readonly ttlSeconds: number;
  private readonly keys: PublicSigningKey[];
  private readonly issuer: string | undefined;
  private readonly audience: string | undefined;

  constructor({ privateKey, oldKey, ttlSeconds, issuer, audience }: JwtMessagingOptions) {
    this.privateKey = readSigningKey(privateKey);
    this.publicKey = publicSigningKey(this.privateKey);
    const old = oldKey === undefined ? [] : [publicSigningKey(readSigningKey(oldKey))];
    this.keys = [this.publicKey, ...old];
    this.ttlSeconds = ttlSeconds;
    this.issuer = issuer;
    this.audience = audience;
  }

  token(user: MessagingUser, _asker: Asker, publicUrl: string): Promise<string> {
    const issuedAt = Math.floor(Date.now() / 1000);
    const token = new SignJWT()
      .setProtectedHeader({ alg: this.publicKey.alg, typ: 'JWT', kid: this.publicKey.kid })
      .setIssuer(this.issuer ?? publicUrl)
      .setSubject(user.id)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + this.ttlSeconds);
    if (this.audience !== undefined) token.setAudience(this.audience);
    return token.sign(this.privateKey);
  }

  /** Returns the key set with which messaging servers check the tokens. */
  jwks(): { keys: PublicSigningKey[] } {
    return { keys: this.keys };
  }
}
