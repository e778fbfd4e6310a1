import { join } from 'node:path';
import type { CaptchaSettings } from '../integrations/captcha/choose-captchas';
import type { MessagingSettings } from '../integrations/messaging/choose-messaging-provider';
import type { SenderSettings } from '../integrations/senders/choose-senders';
import { SENDERS, type SenderName } from '../integrations/senders/kinds';
import type { StorageSettings } from '../integrations/storage/choose-image-storage';
import { routesOf, sendersIn } from './routes';
import { isProduction, MIB, type Environment } from './variables';

type Need = <Name extends keyof Environment>(name: Name, why: string) => NonNullable<Environment[Name]>;

/** Returns a function that reads a variable which the chosen provider requires. */
export function needing(env: Environment, mistakes: string[]): Need {
  return <Name extends keyof Environment>(name: Name, why: string) => {
    const value = env[name];
    if (value === undefined) mistakes.push(`${name}: set it, ${why}`);
    // After a mistake loadConfig throws, so the value is not used.
    return value as NonNullable<Environment[Name]>;
  };
}

/** Returns the routes of messages, and the settings of the senders that they use. */
export function smsOf(env: Environment, need: Need, mistakes: string[]) {
  const provider = providerOf(env);
  const routes = routesOf(env.SMS_ROUTES, provider, mistakes);
  const used = sendersIn(routes);
  const senders: SenderSettings = {
    ...(used.has('console') && { console: {} }),
    ...(used.has('file') && { file: { path: env.SMS_FILE ?? join(env.DATA_DIR, 'sms.ndjson') } }),
    ...(used.has('twilio') && { twilio: twilioOf(env, need) }),
  };
  if (isProduction(env) && env.SMS_ROUTES !== undefined && [...used].some((name) => SENDERS[name].forDevelopment))
    mistakes.push(
      'SMS_ROUTES: must not lead to console or file, also not by SMS_PROVIDER: they show every code to their readers',
    );
  for (const [key, route] of Object.entries(routes.routes))
    if (
      env.NOTIFY === 'sms' &&
      !route.flat().some(({ sender, channel }) => channel === 'sms' && !SENDERS[sender].codesOnly)
    )
      mistakes.push(`NOTIFY: the route of ${key} in SMS_ROUTES has no SMS for notices: add one, or set NOTIFY to off`);
  return { senders, routes, reachesPhones: [...used].some((name) => !SENDERS[name].forDevelopment) };
}

/** Production requires a sender that reaches phones: without one the variables of Twilio are checked at once. */
function providerOf(env: Environment): SenderName {
  const given = env.SMS_PROVIDER ?? 'console';
  const isUnfit = isProduction(env) && env.SMS_ROUTES === undefined && SENDERS[given].forDevelopment;
  return isUnfit ? 'twilio' : given;
}

function twilioOf(env: Environment, need: Need) {
  const why = 'SMS_PROVIDER=twilio needs it';
  const either = `or TWILIO_MESSAGING_SERVICE_SID instead: ${why}`;
  return {
    accountSid: need('TWILIO_ACCOUNT_SID', why),
    authToken: need('TWILIO_AUTH_TOKEN', why),
    from: env.TWILIO_MESSAGING_SERVICE_SID ? env.TWILIO_FROM : need('TWILIO_FROM', either),
    messagingServiceSid: env.TWILIO_MESSAGING_SERVICE_SID,
    apiUrl: env.TWILIO_API_URL,
  };
}

export function messagingOf(env: Environment, need: Need): MessagingSettings {
  if (env.MESSAGING_PROVIDER === 'jwt')
    return {
      provider: 'jwt',
      ttlSeconds: env.MESSAGING_TOKEN_TTL_SECONDS,
      issuer: env.PUBLIC_URL,
      audience: env.MESSAGING_JWT_AUDIENCE,
      oldKey: env.MESSAGING_JWT_OLD_KEY,
    };
  const why = 'MESSAGING_PROVIDER=rongcloud needs it';
  return {
    provider: 'rongcloud',
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
  const why = 'CAPTCHA_PROVIDER=turnstile needs it';
  return {
    provider: 'turnstile',
    siteKey: need('CAPTCHA_SITE_KEY', why),
    secretKey: need('CAPTCHA_SECRET_KEY', why),
    verifyUrl: env.CAPTCHA_VERIFY_URL,
    scriptUrl: env.CAPTCHA_SCRIPT_URL,
  };
}
