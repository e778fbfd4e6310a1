import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { TWILIO_ACCOUNT } from '../support/stand-ins/twilio';

/** Settings that the compose file and production require, as an operator writes them to .env. */
export type Settings = Record<string, string>;

/** Limits that are lifted: here a few clients of one address do in minutes what many clients do in days. */
const LIFTED = [
  'SEND_CODE_PER_PHONE_DAY',
  'SEND_CODE_PER_IP_HOUR',
  'LOGIN_FAILURES_PER_PHONE_AND_IP',
  'LOGIN_FAILURES_PER_IP',
  'LOGIN_FAILURES_PER_PHONE_AND_IP_DAY',
  'LOGINS_PER_PHONE_AND_IP_HOUR',
  'LOGINS_PER_PHONE_DAY',
  'FINDS_PER_USER_MINUTE',
  'FINDS_PER_USER_DAY',
  'CHANGES_PER_USER_HOUR',
  'PASSWORD_CHANGES_PER_USER_HOUR',
  'BLACKLIST_CHANGES_PER_USER_HOUR',
  'UPLOADS_PER_USER_HOUR',
  'UPLOAD_MIN_FREE_BYTES',
  'CHECKS_PER_IP_MINUTE',
  'CHECKS_PER_IP_DAY',
  'VERIFIES_PER_IP_MINUTE',
  'VERIFIES_PER_IP_DAY',
];

const hex = () => randomBytes(32).toString('hex');

/** Returns new settings. `required` are those of the compose file; settings not named here are secrets. */
export function newSettings(required: string[]): Settings {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    ...Object.fromEntries(required.map((name) => [name, hex()])),
    COMPOSE_PROFILES: 'database,proxy',
    DOMAIN: 'localhost',
    SESSION_SECRETS: hex(),
    MESSAGING_JWT_KEY: Buffer.from(pem).toString('base64'),
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: TWILIO_ACCOUNT.sid,
    TWILIO_AUTH_TOKEN: TWILIO_ACCOUNT.token,
    TWILIO_FROM: '+15005550006',
    TWILIO_API_URL: 'https://vendors:8080',
    STORAGE_PROVIDER: 'local',
    SEND_CODE_PER_DAY: '0',
    CODE_RESEND_SECONDS: '1',
    ...Object.fromEntries(LIFTED.map((name) => [name, '0'])),
  };
}

export function asEnvFile(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
