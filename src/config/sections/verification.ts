import { oneOf, seconds, whole } from '../../base/formats';
import { rows, vendorSection, type Section, type Values } from '../../base/settings';
import type { CaptchaSettings } from '../../integrations/captcha/choose-captchas';
import { SITEVERIFY } from '../../integrations/captcha/siteverify/settings';
import { regions, testNumbers } from '../formats';

// prettier-ignore
export const ROWS = rows({
  PHONE_CHECK: { kind: oneOf('mobile', 'possible'), default: 'possible', production: 'mobile',
    says: 'mobile: codes go only to mobile numbers. possible: codes go to every number of a possible length.' },
  ALLOWED_REGIONS: { kind: regions, default: '',
    says: `Countries and calling codes that codes are sent to, such as GB,US,86. Calling codes 1, 7 and 44 cover several
      countries each. Default: all.` },
  CAPTCHA_POLICY: { kind: oneOf('adaptive', 'always', 'off'), default: 'adaptive',
    says: 'adaptive (a solved captcha raises the limits), always (every send_code needs a captcha) or off' },
  CAPTCHA_PROVIDER: { kind: oneOf('drawn', 'altcha', 'turnstile'), default: 'drawn',
    says: `drawn (a picture of letters, which only slows attackers down, since programs can read it), altcha (a proof of
      work: the device computes for a second, and nobody has to read anything) or turnstile (Cloudflare Turnstile,
      hCaptcha, and providers with the same protocol).` },
  SPEND_GUARD: { kind: oneOf('off', 'record', 'enforce'), default: 'record', production: 'enforce',
    says: `Guard against toll fraud, which shows as codes that are never verified. It compares each country with its own
      past. off, record (in the log and the audit trail) or enforce (also refuses most codes to phones without an
      account during an alarm, with return code 5000: docs/abuse.md).` },
  TEST_NUMBERS: { kind: testNumbers, default: '', secret: true,
    says: `Numbers that are sent nothing, and take a fixed code until the end of a day, at most 90 days ahead, separated
      by commas: +447700900123=271828@2027-01-31. They are for reviewers of your app, and for tests (docs/codes.md).` },
  CODE_TTL_SECONDS: { kind: seconds, default: 300,
    says: 'Seconds for which a code is valid, and until a phone gets another' },
  CODE_RESEND_SECONDS: { kind: seconds, default: 60 },
  CODE_MAX_ATTEMPTS: { kind: whole(1, 1_000), default: 5,
    says: `Attempts at a code from the address that requested it. All other addresses together have the same number
      again, and two fifths of that are reserved for places where the account was used.` },
  VERIFICATION_TOKEN_TTL_SECONDS: { kind: seconds, default: 1_800,
    says: 'Seconds for which the token is valid that a right code gives' },
});

export const SECTIONS: Section[] = [
  { title: 'Verification', rows: ROWS, ours: ['SPEND_GUARD', 'VERIFICATION'] },
  vendorSection('With CAPTCHA_PROVIDER=turnstile', SITEVERIFY),
];

type Env = Values<typeof ROWS>;

export function verificationOf(env: Env) {
  return {
    phoneCheck: env.PHONE_CHECK,
    allowedRegions: env.ALLOWED_REGIONS,
    captchaPolicy: env.CAPTCHA_POLICY,
    spendGuard: env.SPEND_GUARD,
    codeTtlSeconds: env.CODE_TTL_SECONDS,
    codeMaxAttempts: env.CODE_MAX_ATTEMPTS,
    tokenTtlSeconds: env.VERIFICATION_TOKEN_TTL_SECONDS,
  };
}

export function captchaOf(env: Env, mistakes: string[]): CaptchaSettings {
  if (env.CAPTCHA_PROVIDER === 'drawn')
    return { provider: 'drawn', answers: env.CAPTCHA_POLICY === 'off' ? 'ignored' : 'checked' };
  if (env.CAPTCHA_PROVIDER === 'altcha') return { provider: 'altcha' };
  return { provider: 'turnstile', ...SITEVERIFY.read(env, 'CAPTCHA_PROVIDER=turnstile needs it', mistakes, {}) };
}
