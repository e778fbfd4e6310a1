import { z } from 'zod';
import { httpUrl, text } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

// prettier-ignore
const ROWS = rows({
  CAPTCHA_SITE_KEY: {
    kind: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the site key as the provider shows it: letters, digits, - and _'),
    says: "The provider's two keys." },
  CAPTCHA_SECRET_KEY: { kind: text, secret: true },
  CAPTCHA_VERIFY_URL: { kind: httpUrl, default: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    https: 'the secret key is sent there',
    says: 'For hCaptcha: https://api.hcaptcha.com/siteverify and https://js.hcaptcha.com/1/api.js' },
  CAPTCHA_SCRIPT_URL: { kind: httpUrl, default: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    https: 'anyone on the network path can change a script that is sent over HTTP' },
});

export const SITEVERIFY = vendor(ROWS, (env, need) => ({
  siteKey: need('CAPTCHA_SITE_KEY'),
  secretKey: need('CAPTCHA_SECRET_KEY'),
  verifyUrl: env.CAPTCHA_VERIFY_URL,
  scriptUrl: env.CAPTCHA_SCRIPT_URL,
}));
