import { join } from 'node:path';
import type { CaptchaSettings } from '../integrations/captcha/choose-captchas';
import type { MessagingSettings } from '../integrations/messaging/choose-messaging-provider';
import type { StorageSettings } from '../integrations/storage/choose-image-storage';
import { isProduction, MIB, type Environment } from './variables';

export type Need = <Name extends keyof Environment>(name: Name, why: string) => NonNullable<Environment[Name]>;

/** Returns a function that reads a variable which the chosen provider requires. */
export function needing(env: Environment, mistakes: string[]): Need {
  return <Name extends keyof Environment>(name: Name, why: string) => {
    const value = env[name];
    if (value === undefined) mistakes.push(`${name}: set it, ${why}`);
    // After a mistake loadConfig throws, so the value is not used.
    return value as NonNullable<Environment[Name]>;
  };
}

export function messagingOf(env: Environment, need: Need, mistakes: string[]): MessagingSettings {
  const { TOKEN_AUDIENCES: audiences, MESSAGING_JWT_AUDIENCE: own } = env;
  const signing = { issuer: env.PUBLIC_URL, oldKey: env.MESSAGING_JWT_OLD_KEY, audiences };
  if (env.MESSAGING_PROVIDER === 'jwt') {
    // One key signs all tokens: only their audience tells them apart.
    if (audiences.length > 0) need('MESSAGING_JWT_AUDIENCE', 'TOKEN_AUDIENCES needs it to tell tokens apart');
    if (own !== undefined && audiences.includes(own))
      mistakes.push('TOKEN_AUDIENCES: must not contain MESSAGING_JWT_AUDIENCE, whose tokens login and get_token give');
    return { provider: 'jwt', ttlSeconds: env.MESSAGING_TOKEN_TTL_SECONDS, audience: own, ...signing };
  }
  const why = 'MESSAGING_PROVIDER=rongcloud needs it';
  return {
    provider: 'rongcloud',
    ...signing,
    appKey: need('RONGCLOUD_APP_KEY', why),
    appSecret: need('RONGCLOUD_APP_SECRET', why),
    apiUrl: env.RONGCLOUD_API_URL,
  };
}

export function storageOf(env: Environment, need: Need): StorageSettings {
  const maxBytes = env.UPLOAD_MAX_BYTES;
  if (env.STORAGE_PROVIDER !== 'qiniu')
    return {
      provider: 'local',
      address: imagesAddress(env),
      directory: join(env.DATA_DIR, 'uploads'),
      maxBytes,
      maxBytesPerUser: env.UPLOAD_BYTES_PER_USER ?? (isProduction(env) ? 100 * MIB : 0),
      minFreeBytes: env.UPLOAD_MIN_FREE_BYTES ?? (isProduction(env) ? 1_024 * MIB : 0),
    };
  const why = 'STORAGE_PROVIDER=qiniu needs it';
  return {
    provider: 'qiniu',
    accessKey: need('QINIU_ACCESS_KEY', why),
    secretKey: need('QINIU_SECRET_KEY', why),
    bucket: need('QINIU_BUCKET', why),
    domain: need('QINIU_DOMAIN', why),
    uploadUrl: env.QINIU_UPLOAD_URL,
    maxBytes,
  };
}

/** Returns the address of a separate image server. */
export function imagesAddress({ IMAGES }: Environment): string | undefined {
  return IMAGES === 'here' || IMAGES === 'only' ? undefined : IMAGES;
}

export function captchaOf(env: Environment, need: Need): CaptchaSettings {
  if (env.CAPTCHA_PROVIDER === 'drawn')
    return { provider: 'drawn', answers: env.CAPTCHA_POLICY === 'off' ? 'ignored' : 'checked' };
  if (env.CAPTCHA_PROVIDER === 'altcha') return { provider: 'altcha' };
  const why = 'CAPTCHA_PROVIDER=turnstile needs it';
  return {
    provider: 'turnstile',
    siteKey: need('CAPTCHA_SITE_KEY', why),
    secretKey: need('CAPTCHA_SECRET_KEY', why),
    verifyUrl: env.CAPTCHA_VERIFY_URL,
    scriptUrl: env.CAPTCHA_SCRIPT_URL,
  };
}
