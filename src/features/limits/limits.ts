import { CodeExpired, SendingTooOften, TooManyRequests, type AppError } from '../../errors';
import type { ReasonOf } from '../../reasons';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** Codes of a phone's day that are kept for places where its account was used, and the same share of fewer. */
const KEPT_CODES = 3;
const KEPT_SHARE = 0.3;
/** Share of a phone's wrong codes of a day that callers from elsewhere may use. */
const GUESSES_FROM_ELSEWHERE = 0.8;

/** How often something may happen for one subject within a window that begins with its first use. */
export interface Limit {
  name: string;
  /**
   * What counts together. The subject is then a phone in E.164, an address (for IPv6 its /64; 'address' also counts its /56
   * and its /48, with 4 and 16 times the amount), a phone and an address
   * with a space between, a user id, or a user id and a device's with a space between.
   */
  per: 'phone' | 'address' | 'phone and address' | 'user' | 'device' | 'service';
  /** 0 lifts the limit. */
  amount: number;
  seconds: number;
  /** `times` is how often what was used fills the amount. */
  refusal: (retryAfterSeconds: number, times: number) => AppError;
  /**
   * When the database cannot count. Money or an account is at stake: refuse. Reading: allow, and each instance counts
   * its own.
   */
  whenUncounted: 'refuse' | 'allow';
}

export interface LimitAmounts {
  codeResendSeconds: number;
  sendCodePerPhoneDay: number;
  sendCodePerIpHour: number;
  sendCodePerIpHourWithCaptcha: number;
  sendCodePerDay: number;
  newDeviceNoticesPerIpHour: number;
  wrongCodesPerPhoneAndIpDay: number;
  wrongCodesPerPhoneDay: number;
  loginFailuresPerPhoneAndIp: number;
  loginFailuresPerPhoneAndIpDay: number;
  loginFailuresPerPhoneDay: number;
  loginFailuresPerIp: number;
  loginFailuresPerDevice: number;
  loginFailuresPerDeviceDay: number;
  loginsPerPhoneAndIpHour: number;
  loginsPerPhoneDay: number;
  findsPerUserMinute: number;
  findsPerUserDay: number;
  changesPerUserHour: number;
  passwordChangesPerUserHour: number;
  blacklistChangesPerUserHour: number;
  friendRequestsPerUserDay: number;
  groupsCreatedPerUserDay: number;
  groupChangesPerUserHour: number;
  uploadsPerUserHour: number;
  uploadPartsPerUserHour: number;
  checksPerIpMinute: number;
  checksPerIpDay: number;
  verifiesPerIpMinute: number;
  verifiesPerIpDay: number;
  pageKibPerIpHour: number;
}

type Kind = Pick<Limit, 'refusal' | 'whenUncounted'>;

const sending = (reason: ReasonOf<5000>): Kind => ({
  refusal: (retryAfterSeconds) => new SendingTooOften(reason, 'too many codes were asked for', { retryAfterSeconds }),
  whenUncounted: 'refuse',
});
/** The same limit, which says so as long as a solved captcha would raise it. */
export function orCaptcha(limit: Limit, raised: Limit): Limit {
  const most = raised.amount === 0 ? Infinity : raised.amount / limit.amount;
  const refusal = sending('captcha_required').refusal;
  return { ...limit, refusal: (...met) => (met[1] < most ? refusal : limit.refusal)(...met) };
}

const guessing: Kind = {
  refusal: (retryAfterSeconds) =>
    new CodeExpired('guesses_spent', 'too many wrong codes were tried', { retryAfterSeconds }),
  whenUncounted: 'refuse',
};
const tooMany =
  (reason: ReasonOf<429>): Limit['refusal'] =>
  (retryAfterSeconds) =>
    new TooManyRequests(reason, 'too many requests: try again later', { retryAfterSeconds });
const changing = (reason: ReasonOf<429>): Kind => ({ refusal: tooMany(reason), whenUncounted: 'refuse' });
const reading = (reason: ReasonOf<429>): Kind => ({ refusal: tooMany(reason), whenUncounted: 'allow' });
/** Wrong passwords and right ones alike: which of them were too many would tell a stranger of the owner's. */
const loggingIn = changing('too_many_attempts');
/** Nobody is answered so: the notice is left out. */
const notifying = changing('too_many_changes');

/** All limits of the service; limits of one name share their buckets. */
export function limitTable(amounts: LimitAmounts) {
  const limit = (name: string, per: Limit['per'], amount: number, seconds: number, kind: Kind): Limit => {
    return { name, per, amount, seconds, ...kind };
  };
  const { sendCodePerPhoneDay, sendCodePerIpHour, sendCodePerIpHourWithCaptcha } = amounts;
  const kept = Math.min(KEPT_CODES, Math.floor(KEPT_SHARE * sendCodePerPhoneDay));
  return {
    /** The slot of a phone: free again once its code has been verified. */
    resend: limit('resend', 'phone', 1, amounts.codeResendSeconds, sending('too_soon')),
    /** The slot for places where the account was used, which strangers cannot take. */
    resendKnown: limit('resend_known', 'phone', 1, amounts.codeResendSeconds, sending('too_soon')),
    sendPerPhone: limit('send_per_phone', 'phone', sendCodePerPhoneDay, DAY, sending('daily_limit')),
    sendPerPhoneWithCaptcha: limit('send_per_phone', 'phone', 2 * sendCodePerPhoneDay, DAY, sending('daily_limit')),
    /** For phones with an account, from places where it was not used. */
    sendPerPhoneElsewhere: limit('send_per_phone', 'phone', sendCodePerPhoneDay - kept, DAY, sending('daily_limit')),
    sendPerPhoneElsewhereWithCaptcha: limit(
      'send_per_phone',
      'phone',
      2 * sendCodePerPhoneDay - kept,
      DAY,
      sending('daily_limit'),
    ),
    sendPerAddress: limit('send_per_address', 'address', sendCodePerIpHour, HOUR, sending('address_limit')),
    /** With a captcha of a provider. One that is drawn here raises the limit by phone alone. */
    sendPerAddressWithCaptcha: limit(
      'send_per_address',
      'address',
      sendCodePerIpHourWithCaptcha,
      HOUR,
      sending('address_limit'),
    ),
    /** One budget for the day, of codes and notices. Its last fifth is kept for accounts that ask from a known place. */
    sendInAll: limit('send_in_all', 'service', amounts.sendCodePerDay, DAY, sending('sending_paused')),
    sendInAllFromElsewhere: limit(
      'send_in_all',
      'service',
      Math.ceil(0.8 * amounts.sendCodePerDay),
      DAY,
      sending('sending_paused'),
    ),
    /** For networks that verify less than half of their codes, or have had much of the budget: most is left to others. */
    sendInAllBehind: limit(
      'send_in_all',
      'service',
      Math.ceil(0.4 * amounts.sendCodePerDay),
      DAY,
      sending('sending_paused'),
    ),

    /** What the spend guard still lets through to a region in an alarm. It sets the amount. */
    alarmShare: limit('alarm_share', 'service', 1, 15 * MINUTE, sending('sending_paused')),
    /** Codes in an alarm to phones with an account that ask from elsewhere than where it was used. */
    alarmCodesPerPhone: limit('alarm_codes_p', 'phone', 1, DAY, sending('sending_paused')),
    alarmCodesPerAddress: limit('alarm_codes_a', 'address', 5, DAY, sending('sending_paused')),
    /** Codes to accounts at a place that is known of them, once its network has an alarm of its own. */
    alarmCodesToKnown: limit('alarm_codes_k', 'address', 20, DAY, sending('sending_paused')),
    alarmCodesToKnownPerNetwork: limit('alarm_codes_kn', 'address', 80, DAY, sending('sending_paused')),
    alarmCodesToAccounts: limit('alarm_codes', 'service', 50, 15 * MINUTE, sending('sending_paused')),

    /** Whatever happens to its account, no phone is told of it more often. */
    noticesPerPhone: limit('notices_p', 'phone', 1, HOUR, notifying),
    /** Whoever logs in to own accounts, each time as another device, has them sent. */
    newDeviceNoticesPerPhone: limit('new_device_notices_p', 'phone', 3, DAY, notifying),
    newDeviceNoticesPerAddress: limit(
      'new_device_notices_a',
      'address',
      amounts.newDeviceNoticesPerIpHour,
      HOUR,
      notifying,
    ),
    otherNoticesPerPhone: limit('other_notices_p', 'phone', 5, DAY, notifying),
    /** Ten addresses can lock thousands of phones out each day. */
    lockOutNoticesPerPhone: limit('lock_out_notices_p', 'phone', 1, WEEK, notifying),

    wrongCodesPerPhoneAndAddress: limit(
      'wrong_codes_pa',
      'phone and address',
      amounts.wrongCodesPerPhoneAndIpDay,
      DAY,
      guessing,
    ),
    wrongCodesPerPhone: limit('wrong_codes_p', 'phone', amounts.wrongCodesPerPhoneDay, DAY, guessing),
    /** For phones with an account, from places where it was not used. */
    wrongCodesPerPhoneElsewhere: limit(
      'wrong_codes_p',
      'phone',
      Math.ceil(GUESSES_FROM_ELSEWHERE * amounts.wrongCodesPerPhoneDay),
      DAY,
      guessing,
    ),

    loginFailuresPerPhoneAndAddress: limit(
      'login_failures_pa',
      'phone and address',
      amounts.loginFailuresPerPhoneAndIp,
      15 * MINUTE,
      loggingIn,
    ),
    loginFailuresPerPhoneAndAddressDay: limit(
      'login_failures_pad',
      'phone and address',
      amounts.loginFailuresPerPhoneAndIpDay,
      DAY,
      loggingIn,
    ),
    loginFailuresPerPhone: limit('login_failures_p', 'phone', amounts.loginFailuresPerPhoneDay, DAY, loggingIn),
    loginFailuresPerAddress: limit('login_failures_a', 'address', amounts.loginFailuresPerIp, 15 * MINUTE, loggingIn),
    /** Of a device on which the account was signed in to before; then none of the four above counts. */
    loginFailuresPerDevice: limit('login_failures_d', 'device', amounts.loginFailuresPerDevice, 15 * MINUTE, loggingIn),
    loginFailuresPerDeviceDay: limit('login_failures_dd', 'device', amounts.loginFailuresPerDeviceDay, DAY, loggingIn),

    /** Right logins. */
    loginsPerPhoneAndAddress: limit('logins_pa', 'phone and address', amounts.loginsPerPhoneAndIpHour, HOUR, loggingIn),
    loginsPerPhone: limit('logins_p', 'phone', amounts.loginsPerPhoneDay, DAY, loggingIn),

    /** Look-ups by phone of one user: enough for a phone book, too few to harvest a range of numbers. */
    findsPerMinute: limit('finds_minute', 'user', amounts.findsPerUserMinute, MINUTE, reading('too_many_lookups')),
    findsPerDay: limit('finds_day', 'user', amounts.findsPerUserDay, DAY, reading('too_many_lookups')),

    /** Attempts with a good token, to this service's own storage. */
    uploadsPerHour: limit('uploads_hour', 'user', amounts.uploadsPerUserHour, HOUR, changing('too_many_uploads')),
    /** The other requests of uploads in parts: each may write some megabytes that are replaced or given up. */
    uploadPartsPerHour: limit(
      'upload_parts_hour',
      'user',
      amounts.uploadPartsPerUserHour,
      HOUR,
      changing('too_many_parts'),
    ),

    /**
     * set_nickname, set_portrait_uri, remove_portrait and set_findable together: each of the first three writes a row for
     * every group of the user. Also end_session, where there is no such session.
     */
    changesPerHour: limit('changes_hour', 'user', amounts.changesPerUserHour, HOUR, changing('too_many_changes')),
    /** friendship/set_display_name: a user may name all friends in one go. */
    displayNamesPerHour: limit(
      'display_names_hour',
      'user',
      20 * amounts.changesPerUserHour,
      HOUR,
      changing('too_many_changes'),
    ),
    /** change_password, change_phone and close_account, with the right password; a wrong one is a failed login. */
    passwordChangesPerHour: limit('password_changes', 'user', amounts.passwordChangesPerUserHour, HOUR, loggingIn),
    /** add_to_blacklist: a row that is taken off stays as a tombstone, so that the blacklist's cap does not limit rows. */
    blacklistAddsPerHour: limit(
      'blacklist_adds_hour',
      'user',
      amounts.blacklistChangesPerUserHour,
      HOUR,
      changing('too_many_blacklist_adds'),
    ),
    /** Invitations, whatever comes of them: each writes a row of somebody else's, or tells whether there is such a user. */
    friendRequestsPerDay: limit(
      'friend_requests_day',
      'user',
      amounts.friendRequestsPerUserDay,
      DAY,
      changing('too_many_invitations'),
    ),
    /** A group that is dismissed stays as a row, so that the cap of groups does not limit rows. */
    groupsCreatedPerDay: limit(
      'groups_created_day',
      'user',
      amounts.groupsCreatedPerUserDay,
      DAY,
      changing('too_many_new_groups'),
    ),
    /** Changes in groups, each of a membership as one: all others in the group are sent it. */
    groupChangesPerHour: limit(
      'group_changes_hour',
      'user',
      amounts.groupChangesPerUserHour,
      HOUR,
      changing('too_many_group_changes'),
    ),

    /** check_phone_available, get_sms_img_code, and checks of captchas for which a provider is asked, together. */
    checksPerMinute: limit('checks_minute', 'address', amounts.checksPerIpMinute, MINUTE, reading('too_many_checks')),
    checksPerDay: limit('checks_day', 'address', amounts.checksPerIpDay, DAY, reading('too_many_checks')),
    /** verify_code: strangers behind the same address who check numbers must not keep anybody from registering. */
    verifiesPerMinute: limit(
      'verifies_minute',
      'address',
      amounts.verifiesPerIpMinute,
      MINUTE,
      reading('too_many_verifications'),
    ),
    verifiesPerDay: limit('verifies_day', 'address', amounts.verifiesPerIpDay, DAY, reading('too_many_verifications')),

    /** Files of /docs and /openapi.json, which anybody may ask for. Counted in KiB, as they are sent. */
    pageKibPerHour: limit('page_kib_hour', 'address', amounts.pageKibPerIpHour, HOUR, reading('too_many_downloads')),
  };
}

export type Limits = ReturnType<typeof limitTable>;
