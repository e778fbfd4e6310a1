import { randomUUID, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { publicSigningKey, readSigningKey, type PublicSigningKey } from './signing-key';

export interface SigningOptions {
  /** See signing-key.ts for the accepted forms. */
  privateKey: string;
  /** Previous key: its tokens stay valid until they expire. */
  oldKey?: string | undefined;
  /** Issuer. Default: the address under which the client reached this service. */
  issuer?: string | undefined;
}

export interface Claims {
  subject: string;
  audience?: string | undefined;
  /** Public id of the session, from which its cookie cannot be computed. */
  sessionId?: string;
}

/** Signs tokens that other servers check themselves: they need the issuer and the public keys, and no call. */
export class JwtSigner {
  private readonly privateKey: KeyObject;
  private readonly publicKey: PublicSigningKey;
  private readonly keys: PublicSigningKey[];
  private readonly issuer: string | undefined;

  constructor({ privateKey, oldKey, issuer }: SigningOptions) {
    this.privateKey = readSigningKey(privateKey);
    this.publicKey = publicSigningKey(this.privateKey);
    const old = oldKey === undefined ? [] : [publicSigningKey(readSigningKey(oldKey))];
    this.keys = [this.publicKey, ...old];
    this.issuer = issuer;
  }

  sign({ subject, audience, sessionId }: Claims, ttlSeconds: number, publicUrl: string): Promise<string> {
    const issuedAt = Math.floor(Date.now() / 1000);
    const token = new SignJWT(sessionId === undefined ? {} : { sid: sessionId })
      .setProtectedHeader({ alg: this.publicKey.alg, typ: 'JWT', kid: this.publicKey.kid })
      .setIssuer(this.issuer ?? publicUrl)
      .setSubject(subject)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ttlSeconds);
    if (audience !== undefined) token.setAudience(audience);
    return token.sign(this.privateKey);
  }

  /** Returns the key set with which servers check the tokens. */
  jwks(): { keys: PublicSigningKey[] } {
    return { keys: this.keys };
  }
}
