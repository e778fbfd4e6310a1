import { CodeExpired, SendingTooOften, TooManyRequests, type AppError } from '../../errors';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often something may happen for one subject within a window that begins with its first use. */
export interface Limit {
  name: string;
  /** Whose uses are counted together: a phone in E.164, an address (IPv6 by /64), a phone and an address with a space between, a user id. */
  per: 'phone' | 'address' | 'phone and address' | 'user' | 'service';
  /** 0 lifts the limit. */
  amount: number;
  seconds: number;
  refusal: (retryAfterSeconds: number) => AppError;
  /** When nothing can be counted: where money or an account is at stake nobody passes; reading goes on, each instance counting for itself. */
  uncounted: 'refused' | 'allowed';
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

type Kind = Pick<Limit, 'refusal' | 'uncounted'>;

const sending: Kind = {
  refusal: (retryAfterSeconds) => new SendingTooOften('too many codes were asked for', { retryAfterSeconds }),
  uncounted: 'refused',
};
const guessing: Kind = {
  refusal: (retryAfterSeconds) => new CodeExpired('too many wrong codes were tried', { retryAfterSeconds }),
  uncounted: 'refused',
};
const tooMany: Limit['refusal'] = (retryAfterSeconds) =>
  new TooManyRequests('too many requests: try again later', { retryAfterSeconds });
const loggingIn: Kind = { refusal: tooMany, uncounted: 'refused' };
const reading: Kind = { refusal: tooMany, uncounted: 'allowed' };

/** All limits of the service; limits of one name share their buckets. */
export function limitTable(amounts: LimitAmounts) {
  const limit = (name: string, per: Limit['per'], amount: number, seconds: number, kind: Kind): Limit => {
    return { name, per, amount, seconds, ...kind };
  };
  const { sendCodePerPhoneDay, sendCodePerIpHour, sendCodePerIpHourWithCaptcha } = amounts;
  return {
    /** The slot of a phone: free again once its code has been verified. */
    resend: limit('resend', 'phone', 1, amounts.codeResendSeconds, sending),
    sendPerPhone: limit('send_per_phone', 'phone', sendCodePerPhoneDay, DAY, sending),
    sendPerPhoneWithCaptcha: limit('send_per_phone', 'phone', 2 * sendCodePerPhoneDay, DAY, sending),
    sendPerAddress: limit('send_per_address', 'address', sendCodePerIpHour, HOUR, sending),
    sendPerAddressWithCaptcha: limit('send_per_address', 'address', sendCodePerIpHourWithCaptcha, HOUR, sending),
    sendInAll: limit('send_in_all', 'service', amounts.sendCodePerDay, DAY, sending),

    wrongCodesPerPhoneAndAddress: limit(
      'wrong_codes_pa',
      'phone and address',
      amounts.wrongCodesPerPhoneAndIpDay,
      DAY,
      guessing,
    ),
    wrongCodesPerPhone: limit('wrong_codes_p', 'phone', amounts.wrongCodesPerPhoneDay, DAY, guessing),

    loginFailuresPerPhoneAndAddress: limit(
      'login_failures_pa',
      'phone and address',
      amounts.loginFailuresPerPhoneAndIp,
      15 * MINUTE,
      loggingIn,
    ),
    loginFailuresPerPhone: limit('login_failures_p', 'phone', amounts.loginFailuresPerPhoneDay, DAY, loggingIn),
    loginFailuresPerAddress: limit('login_failures_a', 'address', amounts.loginFailuresPerIp, 15 * MINUTE, loggingIn),

    /** Lookups by phone, by whoever is signed in: a phone book is synchronised, a number range is not harvested. */
    findsPerMinute: limit('finds_minute', 'user', amounts.findsPerUserMinute, MINUTE, reading),
    findsPerDay: limit('finds_day', 'user', amounts.findsPerUserDay, DAY, reading),

    /** check_phone_available, verify_code and get_sms_img_code together. */
    checksPerMinute: limit('checks_minute', 'address', amounts.checksPerIpMinute, MINUTE, reading),
    checksPerDay: limit('checks_day', 'address', amounts.checksPerIpDay, DAY, reading),
  };
}

export type Limits = ReturnType<typeof limitTable>;
