import { CodeExpired, SendingTooOften, TooManyRequests, type AppError } from '../base/errors';
import type { ReasonOf } from '../base/reasons';

/** Bounds how often something may happen per subject, in a window that begins with its first use. */
export interface Limit {
  /** Prefix of its counts in the database. Limits with the same name share their counts. */
  name: string;
  /**
   * Kind of the subject: a phone in E.164, an address (for IPv6 its /64; 'address' also counts its /56 and its /48, with 4
   * and 16 times the amount), a phone and an address separated by a space, a user id, a user id and a device id
   * separated by a space, or the name of an operator's token.
   */
  per: 'phone' | 'address' | 'phone and address' | 'user' | 'device' | 'token' | 'service';
  /** 0 lifts the limit. */
  amount: number;
  seconds: number;
  /** Returns the refusal. `times` is the used amount divided by the limit's. */
  refusal: (retryAfterSeconds: number, times: number) => AppError;
}

export interface LimitRow extends Omit<Limit, 'amount' | 'seconds'> {
  seconds: number | 'CODE_RESEND_SECONDS';
  /** Counted events, for docs/limits.md. Rows without it are not listed there. */
  what?: string;
  /** Variable that sets the amount. The first row of a variable has its default. */
  variable?: string;
  /** Amount, or the variable's default. Default: no limit. */
  amount?: number;
  /** Default of the variable in production, if there is no limit elsewhere. */
  production?: number;
  /** Computes the amount from the variable's. */
  share?: (amount: number) => number;
  /** Remedy if the variable is not set in production. */
  required?: string;
  /** Further text on the variable. */
  says?: string;
}

const MINUTE = 60;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** An SDK sends an image of 5 MiB in two, or in chunks of 256 KiB. */
const PARTS_PER_UPLOAD = 20;

type Refusal = Limit['refusal'];

const sending =
  (reason: ReasonOf<5000>): Refusal =>
  (retryAfterSeconds) =>
    new SendingTooOften(reason, 'too many codes were asked for', { retryAfterSeconds });
const guessing: Refusal = (retryAfterSeconds) =>
  new CodeExpired('guesses_spent', 'too many wrong codes were tried', { retryAfterSeconds });
const tooMany =
  (reason: ReasonOf<429>): Refusal =>
  (retryAfterSeconds) =>
    new TooManyRequests(reason, 'too many requests: try again later', { retryAfterSeconds });
/** Same reason for wrong and right passwords: a difference would tell a stranger about the owner's logins. */
const loggingIn = tooMany('too_many_attempts');
/** Never sent to a client: when this limit is reached, the notice is skipped. */
const notifying = tooMany('too_many_changes');

/** Like `limit`, but answers `captcha_required` while solving a captcha would still help. */
export function orCaptcha(limit: Limit, raised: Limit): Limit {
  const most = raised.amount === 0 ? Infinity : raised.amount / limit.amount;
  const refusal = sending('captcha_required');
  return { ...limit, refusal: (...met) => (met[1] < most ? refusal : limit.refusal)(...met) };
}

/** Part of a phone's daily codes that is reserved for places where its account was used. */
const kept = (codes: number) => Math.min(3, Math.floor(0.3 * codes));

/** Every limit of the service. `npm run tables` generates docs/limits.md from it. */
// prettier-ignore
const TABLE = {
  /** Sending slot of a phone. It is free again once the code is verified. */
  resend: { name: 'resend', per: 'phone', amount: 1, seconds: 'CODE_RESEND_SECONDS', refusal: sending('too_soon'),
    what: 'codes sent; the slot is free again once the code is verified' },
  /** Separate slot for places where the account was used, so that strangers cannot take it. */
  resendKnown: { name: 'resend_known', per: 'phone', amount: 1, seconds: 'CODE_RESEND_SECONDS', refusal: sending('too_soon'),
    what: 'codes sent from a place where the account was used before, counted separately' },
  sendPerPhone: { name: 'send_per_phone', per: 'phone', seconds: DAY, refusal: sending('daily_limit'),
    variable: 'SEND_CODE_PER_PHONE_DAY', amount: 10,
    says: 'Three of these are reserved for places where the account was used. With captchas, twice as many are sent.',
    what: 'codes sent without a captcha; beyond it, captcha_required' },
  sendPerPhoneElsewhere: { name: 'send_per_phone', per: 'phone', seconds: DAY, refusal: sending('daily_limit'),
    variable: 'SEND_CODE_PER_PHONE_DAY', share: (codes) => codes - kept(codes),
    what: 'codes sent without a captcha to a phone with an account, from a place where it was not used' },
  sendPerPhoneWithCaptcha: { name: 'send_per_phone', per: 'phone', seconds: DAY, refusal: sending('daily_limit'),
    variable: 'SEND_CODE_PER_PHONE_DAY', share: (codes) => 2 * codes,
    what: 'codes sent in total' },
  sendPerPhoneElsewhereWithCaptcha: { name: 'send_per_phone', per: 'phone', seconds: DAY, refusal: sending('daily_limit'),
    variable: 'SEND_CODE_PER_PHONE_DAY', share: (codes) => 2 * codes - kept(codes),
    what: 'codes sent in total to a phone with an account, from a place where it was not used' },
  sendPerAddress: { name: 'send_per_address', per: 'address', seconds: HOUR, refusal: sending('address_limit'),
    variable: 'SEND_CODE_PER_IP_HOUR', production: 200,
    what: 'codes sent' },
  /** A captcha that the service draws raises only the limit per phone. */
  sendPerAddressWithCaptcha: { name: 'send_per_address', per: 'address', seconds: HOUR, refusal: sending('address_limit'),
    variable: 'SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA', production: 1_000,
    says: 'With CAPTCHA_PROVIDER=turnstile. Drawn captchas and proofs of work raise only the limit per phone.',
    what: "codes sent with a provider's captcha" },

  /** Daily budget. Its last fifth is reserved for accounts that ask from a known place. */
  sendInAll: { name: 'send_in_all', per: 'service', seconds: DAY, refusal: sending('sending_paused'),
    variable: 'SEND_CODE_PER_DAY',
    says: "The whole service's budget of messages a day, codes and notices, which bounds their cost. A call counts as three, " +
      'unless SMS_ROUTES sets another cost. Three for each new ' +
      'user a day leave room for retries and resets. The last fifth is reserved for owners who ask from a place where ' +
      'their account was used before. Default: 0, no limit.',
    required: 'set it to the most messages a day that you will pay for (three for each new user a day), or to 0 for no limit' },
  sendInAllFromElsewhere: { name: 'send_in_all', per: 'service', seconds: DAY, refusal: sending('sending_paused'),
    variable: 'SEND_CODE_PER_DAY', share: (messages) => Math.ceil(0.8 * messages) },
  /** Lower budget for networks that verify less than half of their codes, or have used much of it: the rest is for others. */
  sendInAllBehind: { name: 'send_in_all', per: 'service', seconds: DAY, refusal: sending('sending_paused'),
    variable: 'SEND_CODE_PER_DAY', share: (messages) => Math.ceil(0.4 * messages) },

  /** Lower budget for networks that have not verified a code in the last fortnight, so that those of users have some left. */
  sendInAllOfNewNetworks: { name: 'send_in_all', per: 'service', seconds: DAY, refusal: sending('sending_paused'),
    variable: 'SEND_CODE_PER_DAY', share: (messages) => Math.ceil(0.6 * messages) },

  /** Codes that the spend guard still sends to a region during an alarm. The spend guard sets the amount. */
  alarmShare: { name: 'alarm_share', per: 'service', amount: 1, seconds: QUARTER / 5, refusal: sending('sending_paused') },
  /** Codes of the share to one wide network. The spend guard sets the amount. */
  alarmShareOfWide: { name: 'alarm_share_w', per: 'service', amount: 1, seconds: QUARTER, refusal: sending('sending_paused') },
  /** Codes during an alarm to phones with an account, requested from a place where it was not used. */
  alarmCodesPerPhone: { name: 'alarm_codes_p', per: 'phone', amount: 1, seconds: DAY, refusal: sending('sending_paused'),
    what: 'codes sent during an alarm of the [spend guard](abuse.md) to phones with an account, from a place where it was not used' },
  alarmCodesPerAddress: { name: 'alarm_codes_a', per: 'address', amount: 5, seconds: DAY, refusal: sending('sending_paused'),
    what: 'the codes of the row above' },
  alarmCodesToAccounts: { name: 'alarm_codes', per: 'service', amount: 50, seconds: QUARTER, refusal: sending('sending_paused'),
    what: 'the codes of the two rows above' },
  /** Codes to accounts at a known place while the network of that place has an alarm. */
  alarmCodesToKnown: { name: 'alarm_codes_k', per: 'address', amount: 20, seconds: DAY, refusal: sending('sending_paused'),
    what: 'codes sent during an alarm of a network, to accounts that were used at the address' },
  alarmCodesToKnownPerNetwork: { name: 'alarm_codes_kn', per: 'address', amount: 80, seconds: DAY, refusal: sending('sending_paused'),
    what: 'the codes of the row above, where a whole network counts as one address (/24, or /48 for IPv6)' },

  /** Upper bound for all notices to a phone, whatever happens to its account. */
  noticesPerPhone: { name: 'notices_p', per: 'phone', amount: 1, seconds: HOUR, refusal: notifying },
  /** A user can trigger these by logging in to their own accounts, each time as a new device. */
  newDeviceNoticesPerPhone: { name: 'new_device_notices_p', per: 'phone', amount: 3, seconds: DAY, refusal: notifying },
  newDeviceNoticesPerAddress: { name: 'new_device_notices_a', per: 'address', seconds: HOUR, refusal: notifying,
    variable: 'NEW_DEVICE_NOTICES_PER_IP_HOUR', production: 20,
    says: 'With NOTIFY=sms: notices of logins from new devices, caused by logins of one address, to all phones together. ' +
      'One phone gets at most one notice an hour, three a day of new devices, five a day of other things, and one a week ' +
      'of a lock-out.' },
  otherNoticesPerPhone: { name: 'other_notices_p', per: 'phone', amount: 5, seconds: DAY, refusal: notifying },
  /** Ten addresses can lock out thousands of phones a day. */
  lockOutNoticesPerPhone: { name: 'lock_out_notices_p', per: 'phone', amount: 1, seconds: WEEK, refusal: notifying },

  wrongCodesPerPhoneAndAddress: { name: 'wrong_codes_pa', per: 'phone and address', seconds: DAY, refusal: guessing,
    variable: 'WRONG_CODES_PER_PHONE_AND_IP_DAY', amount: 20,
    what: 'wrong codes' },
  wrongCodesPerPhone: { name: 'wrong_codes_p', per: 'phone', seconds: DAY, refusal: guessing,
    variable: 'WRONG_CODES_PER_PHONE_DAY', amount: 100,
    says: 'A fifth of these is reserved for places where the account was used.',
    what: 'wrong codes' },
  wrongCodesPerPhoneElsewhere: { name: 'wrong_codes_p', per: 'phone', seconds: DAY, refusal: guessing,
    variable: 'WRONG_CODES_PER_PHONE_DAY', share: (codes) => Math.ceil(0.8 * codes),
    what: 'wrong codes for a phone with an account, from a place where it was not used' },
  /** Apart from `checks`: strangers behind the same address who check numbers must not block registration. */
  verifiesPerMinute: { name: 'verifies_minute', per: 'address', seconds: MINUTE, refusal: tooMany('too_many_verifications'),
    variable: 'VERIFIES_PER_IP_MINUTE', production: 600,
    what: 'verify_code' },
  verifiesPerDay: { name: 'verifies_day', per: 'address', seconds: DAY, refusal: tooMany('too_many_verifications'),
    variable: 'VERIFIES_PER_IP_DAY', production: 20_000,
    what: 'verify_code' },
  checksPerMinute: { name: 'checks_minute', per: 'address', seconds: MINUTE, refusal: tooMany('too_many_checks'),
    variable: 'CHECKS_PER_IP_MINUTE', production: 600,
    what: "check_phone_available, get_sms_img_code, and checks of a provider's captchas" },
  checksPerDay: { name: 'checks_day', per: 'address', seconds: DAY, refusal: tooMany('too_many_checks'),
    variable: 'CHECKS_PER_IP_DAY', production: 20_000,
    what: "check_phone_available, get_sms_img_code, and checks of a provider's captchas" },
  /** Size as sent, after compression. */
  pageKibPerHour: { name: 'page_kib_hour', per: 'address', seconds: HOUR, refusal: tooMany('too_many_downloads'),
    variable: 'PAGE_KIB_PER_IP_HOUR', production: 100_000,
    says: 'Size as sent: /docs has about 600 KiB, compressed.',
    what: 'KiB of `/openapi.json`, `/openapi-3.0.json` and the files of `/docs`' },

  loginFailuresPerPhoneAndAddress: { name: 'login_failures_pa', per: 'phone and address', seconds: QUARTER, refusal: loggingIn,
    variable: 'LOGIN_FAILURES_PER_PHONE_AND_IP', amount: 10,
    what: 'wrong passwords' },
  loginFailuresPerPhoneAndAddressDay: { name: 'login_failures_pad', per: 'phone and address', seconds: DAY, refusal: loggingIn,
    variable: 'LOGIN_FAILURES_PER_PHONE_AND_IP_DAY', amount: 20,
    what: 'wrong passwords' },
  loginFailuresPerPhone: { name: 'login_failures_p', per: 'phone', seconds: DAY, refusal: loggingIn,
    variable: 'LOGIN_FAILURES_PER_PHONE_DAY', amount: 100,
    what: 'wrong passwords, except from addresses where the account was used before' },
  loginFailuresPerAddress: { name: 'login_failures_a', per: 'address', seconds: QUARTER, refusal: loggingIn,
    variable: 'LOGIN_FAILURES_PER_IP', production: 500,
    what: 'wrong passwords' },
  loginFailuresPerDevice: { name: 'login_failures_d', per: 'device', seconds: QUARTER, refusal: loggingIn,
    variable: 'LOGIN_FAILURES_PER_DEVICE', amount: 10,
    what: 'wrong passwords with the cookie `device`, instead of the four limits above' },
  loginFailuresPerDeviceDay: { name: 'login_failures_dd', per: 'device', seconds: DAY, refusal: loggingIn,
    variable: 'LOGIN_FAILURES_PER_DEVICE_DAY', amount: 20,
    what: 'wrong passwords with the cookie `device`' },
  loginsPerPhoneAndAddress: { name: 'logins_pa', per: 'phone and address', seconds: HOUR, refusal: loggingIn,
    variable: 'LOGINS_PER_PHONE_AND_IP_HOUR', production: 60,
    what: 'logins' },
  loginsPerPhone: { name: 'logins_p', per: 'phone', seconds: DAY, refusal: loggingIn,
    variable: 'LOGINS_PER_PHONE_DAY', production: 500,
    what: 'logins' },
  /** Counts requests with the right password. A wrong password counts as a failed login. */
  passwordChangesPerHour: { name: 'password_changes', per: 'user', seconds: HOUR, refusal: loggingIn,
    variable: 'PASSWORD_CHANGES_PER_USER_HOUR', production: 10,
    what: 'change_password, change_phone, close_account, keep_number' },

  /** Enough for a phone book, too few to harvest a range of numbers. */
  findsPerMinute: { name: 'finds_minute', per: 'user', seconds: MINUTE, refusal: tooMany('too_many_lookups'),
    variable: 'FINDS_PER_USER_MINUTE', amount: 300,
    what: 'find' },
  findsPerDay: { name: 'finds_day', per: 'user', seconds: DAY, refusal: tooMany('too_many_lookups'),
    variable: 'FINDS_PER_USER_DAY', amount: 2_000,
    what: 'find' },
  /** Each of the first three writes a row for every group of the user. */
  changesPerHour: { name: 'changes_hour', per: 'user', seconds: HOUR, refusal: tooMany('too_many_changes'),
    variable: 'CHANGES_PER_USER_HOUR', production: 30,
    says: 'The limit of friendship/set_display_name is twenty times as high.',
    what: 'set_nickname, set_portrait_uri, remove_portrait, set_findable, and end_session for a session that does not exist' },
  /** Higher, because a user may name all friends at once. */
  displayNamesPerHour: { name: 'display_names_hour', per: 'user', seconds: HOUR, refusal: tooMany('too_many_changes'),
    variable: 'CHANGES_PER_USER_HOUR', share: (changes) => 20 * changes,
    what: 'friendship/set_display_name' },
  /** A removed entry stays as a tombstone, so the blacklist's cap does not bound the rows. */
  blacklistAddsPerHour: { name: 'blacklist_adds_hour', per: 'user', seconds: HOUR, refusal: tooMany('too_many_blacklist_adds'),
    variable: 'BLACKLIST_CHANGES_PER_USER_HOUR', production: 600,
    what: 'add_to_blacklist' },
  /** Counts every request: each writes a row of another user, or tells whether a user exists. */
  friendRequestsPerDay: { name: 'friend_requests_day', per: 'user', seconds: DAY, refusal: tooMany('too_many_invitations'),
    variable: 'FRIEND_REQUESTS_PER_USER_DAY', amount: 100,
    what: 'invite' },
  /** A dismissed group keeps its row, so the cap of groups does not bound the rows. */
  groupsCreatedPerDay: { name: 'groups_created_day', per: 'user', seconds: DAY, refusal: tooMany('too_many_new_groups'),
    variable: 'GROUPS_CREATED_PER_USER_DAY', amount: 100,
    what: 'group/create' },
  /** Every change is sent to all members. Quitting and dismissing are never limited. */
  groupChangesPerHour: { name: 'group_changes_hour', per: 'user', seconds: HOUR, refusal: tooMany('too_many_group_changes'),
    variable: 'GROUP_CHANGES_PER_USER_HOUR', production: 2_000,
    says: 'Enough for creating four groups of 500 an hour.',
    what: 'changes in groups, one for each named member: create, add, join, kick, transfer, set_manager, remove_manager, rename and other settings' },
  /** Counts attempts with a valid token, to the service's own storage. */
  uploadsPerHour: { name: 'uploads_hour', per: 'user', seconds: HOUR, refusal: tooMany('too_many_uploads'),
    variable: 'UPLOADS_PER_USER_HOUR', production: 30,
    says: 'With STORAGE_PROVIDER=local. The limit of requests for parts of resumable uploads is twenty times as high.',
    what: 'uploads' },
  /** Each may write several megabytes that are later replaced or aborted. */
  uploadPartsPerHour: { name: 'upload_parts_hour', per: 'user', seconds: HOUR, refusal: tooMany('too_many_parts'),
    variable: 'UPLOADS_PER_USER_HOUR', share: (uploads) => PARTS_PER_UPLOAD * uploads,
    what: 'other requests of resumable uploads' },

  adminCalls: { name: 'admin_calls', per: 'token', seconds: MINUTE, refusal: tooMany('too_many_admin_calls'),
    variable: 'ADMIN_CALLS_PER_TOKEN_MINUTE', amount: 120,
    what: 'calls of the admin API' },
  /** Forged receipts only: a right one is accepted even when this limit is met. */
  forgedReceipts: { name: 'forged_receipts', per: 'address', amount: 60, seconds: MINUTE, refusal: tooMany('too_many_forged'),
    what: 'forged receipts of messages' },
  /** Wrong tokens only: a right one is accepted even when this limit is met. */
  adminWrongTokens: { name: 'admin_wrong_tokens', per: 'address', seconds: MINUTE, refusal: tooMany('too_many_admin_calls'),
    variable: 'ADMIN_WRONG_TOKENS_PER_IP_MINUTE', amount: 10,
    what: 'calls of the admin API with a wrong token' },
} as const satisfies Record<string, LimitRow>;

export type LimitName = keyof typeof TABLE;
export type Limits = Record<LimitName, Limit>;
export type LimitVariable = Extract<(typeof TABLE)[LimitName], { variable: string }>['variable'];

export const LIMITS: Record<LimitName, LimitRow> = TABLE;

/** First row of each variable, which has its default. */
// eslint-disable-next-line no-restricted-syntax -- filled by the loop below, and by nothing else
export const LIMIT_VARIABLES = new Map<LimitVariable, LimitRow>();
for (const row of Object.values(LIMITS)) {
  const variable = row.variable as LimitVariable | undefined;
  if (variable && !LIMIT_VARIABLES.has(variable)) LIMIT_VARIABLES.set(variable, row);
}

/** Variables that set limits. */
export type LimitSettings = Partial<Record<LimitVariable, number | undefined>> & { CODE_RESEND_SECONDS: number };

export function limitsOf(settings: LimitSettings, isProduction: boolean): Limits {
  const amountOf = ({ variable, amount = 0, share = (all) => all }: LimitRow): number => {
    if (variable === undefined) return amount;
    const first = LIMIT_VARIABLES.get(variable as LimitVariable);
    return share(settings[variable as LimitVariable] ?? first?.amount ?? (isProduction ? (first?.production ?? 0) : 0));
  };
  const limits = Object.entries(LIMITS).map(([limit, row]): [string, Limit] => {
    const { name, per, refusal, seconds } = row;
    const inSeconds = typeof seconds === 'number' ? seconds : settings[seconds];
    return [limit, { name, per, refusal, amount: amountOf(row), seconds: inSeconds }];
  });
  return Object.fromEntries(limits) as Limits;
}
