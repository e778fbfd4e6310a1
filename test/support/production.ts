import { generateSigningKey } from '../../src/integrations/messaging/signing-key';
import type { Env } from './app';
import { rememberSecret } from './secrets';

/** Returns the least settings with which production starts. */
export function productionEnv(): Env {
  return {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgresql://accounts@127.0.0.1:5432/accounts',
    SESSION_SECRETS: rememberSecret('d3f09d8a2b0c4c5e8a1f7b6d9e0c3a52'),
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: 'AC0123456789abcdef0123456789abcdef',
    TWILIO_AUTH_TOKEN: rememberSecret('9f1c2e7b5a3d4860b1e2f3a4c5d6e7f8'),
    TWILIO_FROM: '+447400000000',
    MESSAGING_JWT_KEY: rememberSecret(generateSigningKey()),
    STORAGE_PROVIDER: 'local',
    PUBLIC_URL: 'https://accounts.example.com',
    TRUST_PROXY: '1',
    SEND_CODE_PER_DAY: '0',
    BCRYPT_COST: '10',
  };
}
