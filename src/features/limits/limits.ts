import { CodeExpired, SendingTooOften, TooManyRequests, type AppError } from '../../errors';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often something may happen for one subject within a window; an amount of 0 lifts the limit. */
export interface Limit {
  name: string;
  amount: number;
  seconds: number;
  refusal: (retryAfterSeconds: number) => AppError;
}

export interface LimitAmounts {
  codeResendSeconds: number;
  sendCodePerPhoneDay: number;
  sendCodePerIpHour: number;
  sendCodePerIpHourWithCaptcha: number;
  sendCodePerDay: number;
  wrongCodesPerPhoneAndIpDay: number;
  wrongCodesPerPhoneDay: number;
  loginFailuresPerPhoneAndIp: number;
  loginFailuresPerPhoneDay: number;
  loginFailuresPerIp: number;
  findsPerUserMinute: number;
  findsPerUserDay: number;
  checksPerIpMinute: number;
  checksPerIpDay: number;
}

const sendingTooOften = (retryAfterSeconds: number) =>
  new SendingTooOften('too many codes were asked for', { retryAfterSeconds });
const tooManyRequests = (retryAfterSeconds: number) =>
  new TooManyRequests('too many requests: try again later', { retryAfterSeconds });
const codeExpired = (retryAfterSeconds: number) =>
  new CodeExpired('too many wrong codes were tried', { retryAfterSeconds });

/** All limits of the service. Subjects: a phone in E.164, an address (IPv6 by /64), both with a space between, a user id. */
export function limitTable(amounts: LimitAmounts) {
  const limit = (name: string, amount: number, seconds: number, refusal: Limit['refusal']): Limit => ({
    name,
    amount,
    seconds,
    refusal,
  });
  return {
    /** The slot of a phone: free again once its code has been verified. */
    resend: limit('resend', 1, amounts.codeResendSeconds, sendingTooOften),
    sendPerPhone: limit('send_per_phone', amounts.sendCodePerPhoneDay, DAY, sendingTooOften),
    /** The same bucket, raised for who has solved a captcha. */
    sendPerPhoneWithCaptcha: limit('send_per_phone', 2 * amounts.sendCodePerPhoneDay, DAY, sendingTooOften),
    sendPerAddress: limit('send_per_address', amounts.sendCodePerIpHour, HOUR, sendingTooOften),
    sendPerAddressWithCaptcha: limit('send_per_address', amounts.sendCodePerIpHourWithCaptcha, HOUR, sendingTooOften),
    sendInAll: limit('send_in_all', amounts.sendCodePerDay, DAY, sendingTooOften),

    wrongCodesPerPhoneAndAddress: limit('wrong_codes_pa', amounts.wrongCodesPerPhoneAndIpDay, DAY, codeExpired),
    wrongCodesPerPhone: limit('wrong_codes_p', amounts.wrongCodesPerPhoneDay, DAY, codeExpired),

    loginFailuresPerPhoneAndAddress: limit(
      'login_failures_pa',
      amounts.loginFailuresPerPhoneAndIp,
      15 * MINUTE,
      tooManyRequests,
    ),
    loginFailuresPerPhone: limit('login_failures_p', amounts.loginFailuresPerPhoneDay, DAY, tooManyRequests),
    loginFailuresPerAddress: limit('login_failures_a', amounts.loginFailuresPerIp, 15 * MINUTE, tooManyRequests),

    /** Lookups by phone, by whoever is signed in: a phone book is synchronised, a number range is not harvested. */
    findsPerMinute: limit('finds_minute', amounts.findsPerUserMinute, MINUTE, tooManyRequests),
    findsPerDay: limit('finds_day', amounts.findsPerUserDay, DAY, tooManyRequests),

    /** check_phone_available, verify_code and get_sms_img_code together. */
    checksPerMinute: limit('checks_minute', amounts.checksPerIpMinute, MINUTE, tooManyRequests),
    checksPerDay: limit('checks_day', amounts.checksPerIpDay, DAY, tooManyRequests),
  };
}

export type Limits = ReturnType<typeof limitTable>;
