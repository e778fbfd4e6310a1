import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** Makes a key for an environment variable: the base64, on one line, of an Ed25519 private key in PKCS8 PEM. */
export function generateSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })).toString('base64');
}

/** Reads the PEM itself or its base64: the output of `openssl genpkey` works either way. Throws for any other key. */
export function readSigningKey(key: string): KeyObject {
  const pem = key.includes('-----BEGIN') ? key.replaceAll('\\n', '\n') : Buffer.from(key, 'base64').toString();
  const privateKey = createPrivateKey(pem);
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('the signing key is not an Ed25519 key');
  return privateKey;
}

export function isSigningKey(key: string): boolean {
  try {
    readSigningKey(key);
    return true;
  } catch {
    return false;
  }
}

export interface PublicSigningKey {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  kid: string;
  alg: 'EdDSA';
  use: 'sig';
}

export function publicSigningKey(privateKey: KeyObject): PublicSigningKey {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (x === undefined) throw new Error('the signing key has no public part');
  return { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint(x), alg: 'EdDSA', use: 'sig' };
}

/** Returns the thumbprint of RFC 7638: of the required members only, in alphabetical order. */
function thumbprint(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
}
