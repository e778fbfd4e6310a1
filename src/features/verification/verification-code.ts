import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';

/** Makes codes and checks them. What is stored is useless without the server's key. */
export class VerificationCodes {
  private readonly keys: [Buffer, ...Buffer[]];

  /** The first secret makes codes; each secret checks them. */
  constructor(secrets: string[]) {
    const [first, ...others] = secrets.map(key);
    if (first === undefined) throw new Error('verification codes need a secret');
    this.keys = [first, ...others];
  }

  create(): string {
    return String(randomInt(1_000_000)).padStart(6, '0');
  }

  hmac(phone: string, code: string): Buffer {
    return hmac(this.keys[0], phone, code);
  }

  matches(phone: string, code: string, kept: Buffer): boolean {
    return this.keys.map((key) => timingSafeEqual(hmac(key, phone, code), kept)).includes(true);
  }
}

function key(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'verification codes', 32));
}

function hmac(key: Buffer, phone: string, code: string): Buffer {
  return createHmac('sha256', key).update(`${phone} ${code}`).digest();
}
