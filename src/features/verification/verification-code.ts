import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { derivedKey } from '../../base/secrets';

/** A stored code. Neither the code nor the address that asked for it can be read from it. */
export interface KeptCode {
  hmac: Buffer;
  askerHmac: Buffer;
}

interface Keys {
  code: Buffer;
  asker: Buffer;
}

/** Makes codes and checks them. A stored code is useless without the server's key. */
export class VerificationCodes {
  private readonly keys: [Keys, ...Keys[]];

  /** Makes codes with the first secret, and checks them with each. */
  constructor(secrets: string[]) {
    const [first, ...others] = secrets.map((secret) => ({
      code: derivedKey(secret, 'verification codes'),
      asker: derivedKey(secret, 'askers of verification codes'),
    }));
    if (first === undefined) throw new Error('verification codes need a secret');
    this.keys = [first, ...others];
  }

  create(): string {
    return String(randomInt(1_000_000)).padStart(6, '0');
  }

  kept(phone: string, code: string, askerAddress: string): KeptCode {
    const [keys] = this.keys;
    return { hmac: hmac(keys.code, phone, code), askerHmac: hmac(keys.asker, phone, askerAddress) };
  }

  matches(phone: string, code: string, kept: Buffer): boolean {
    return this.keys.map((keys) => timingSafeEqual(hmac(keys.code, phone, code), kept)).includes(true);
  }

  /** Returns the possible `askerHmac`s of codes that this address asked for, one per secret. */
  askerHmacs(phone: string, address: string): Buffer[] {
    return this.keys.map((keys) => hmac(keys.asker, phone, address));
  }
}

function hmac(key: Buffer, phone: string, text: string): Buffer {
  return createHmac('sha256', key).update(`${phone} ${text}`).digest();
}
