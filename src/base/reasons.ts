import { IMAGE_REASONS } from '../../packages/image-server/src/reasons';

/**
 * Reasons of refusals, for programs: clients decide by them, so they never change. Each has one code: a return code or
 * the HTTP status of the answer. docs/reasons.md says what a client should do.
 */
export const REASONS = {
  // Common to all operations.
  invalid_input: { code: 400, when: 'a field is missing or malformed; `details` names it' },
  malformed_body: { code: 400, when: 'the body is not a JSON object in UTF-8, or cannot be read' },
  malformed_path: { code: 400, when: 'the path cannot be decoded' },
  not_signed_in: { code: 401, when: 'there is no session, or it has ended' },
  cross_site: { code: 403, when: 'a browser sent the request from a page of another site' },
  no_such_path: { code: 404, when: 'the path does not exist' },
  method_not_allowed: { code: 405, when: 'the path does not take this method; `Allow` lists those that it takes' },
  body_too_large: { code: 413, when: 'the body is larger than 16 KiB' },
  internal_error: { code: 500, when: 'the service or the messaging provider failed' },
  https_required: { code: 500, when: 'the request did not arrive over HTTPS, which this deployment requires' },
  overloaded: { code: 503, when: 'too many requests are waiting, or the database is unavailable' },
  took_too_long: { code: 503, when: 'the request took too long; it may or may not have taken effect' },

  // Before an operation is found.
  malformed_http: { code: 400, when: 'the request is not valid HTTP' },
  request_too_slow: { code: 408, when: 'the request did not arrive in time' },
  too_early: { code: 425, when: 'the request came as TLS early data, which an attacker can replay' },
  headers_too_large: { code: 431, when: 'the headers are larger than 16 KiB' },
  bad_gateway: { code: 502, when: 'the proxy did not get a whole answer from the service' },
  service_away: { code: 503, when: 'the proxy found no instance of the service that answers' },

  // Only /openapi.json and the files of /docs.
  too_many_downloads: { code: 429, when: 'this address has downloaded too much of the API description or of /docs' },

  // Only /readyz.
  stopping: { code: 503, when: 'this instance is stopping' },
  not_ready: { code: 503, when: 'the database of this instance lacks migrations, or does not take writes' },

  // Only /receipts.
  too_many_forged: { code: 429, when: 'this address has sent too many receipts with a wrong signature' },
  receipt_unsigned: { code: 403, when: 'the provider of the message has not signed this receipt, or did so long ago' },

  // Codes and captchas.
  wrong_code: { code: 1000, when: 'the code is wrong, or no code was sent to this phone' },
  code_expired: { code: 2000, when: 'the code was used or has expired' },
  guesses_spent: { code: 2000, when: 'the daily limit of wrong codes is reached' },
  code_unchecked: { code: 503, when: 'the provider that made the code does not answer; the attempt does not count' },
  too_soon: { code: 5000, when: 'a code was sent to this phone a moment ago' },
  captcha_required: {
    code: 5000,
    when: 'sending more codes requires a solved captcha, and no right answer was sent',
  },
  daily_limit: { code: 5000, when: 'the daily limit of codes for this phone is reached' },
  address_limit: { code: 5000, when: 'this address has requested too many codes' },
  no_guesses_left: { code: 5000, when: 'too many wrong codes were entered for this phone, so no new code is sent' },
  sending_paused: { code: 5000, when: 'sending codes is paused, for this region or for the whole service' },
  captcha_missing: { code: 400, when: 'every request requires a solved captcha, and none was sent' },
  captcha_wrong: {
    code: 400,
    when: 'a solved captcha is required, and this answer is wrong, was used before, or is too old',
  },
  captcha_unchecked: { code: 503, when: 'a solved captcha is required, and it cannot be checked at the moment' },
  region_not_served: { code: 400, when: 'codes are not sent to this region' },
  channel_not_served: { code: 400, when: 'no way of this channel leads to this phone; ask without a channel' },
  not_a_mobile: { code: 400, when: 'codes are sent to mobile numbers only' },
  undeliverable: { code: 400, when: 'the SMS provider does not deliver to this number' },
  sms_failed: { code: 503, when: 'the SMS provider is unavailable; no code was sent' },
  sms_unconfirmed: { code: 503, when: 'the SMS provider did not answer in time; the code may still arrive' },
  too_many_checks: { code: 429, when: 'this address has checked too many phones, or requested too many captchas' },
  too_many_verifications: { code: 429, when: 'this address has entered too many codes' },
  no_such_captcha: { code: 404, when: 'the captcha does not exist, has expired, or was tried before' },

  // Accounts and passwords.
  no_such_token: { code: 404, when: 'the verification token is unknown, used or expired, when registering' },
  wrong_token: { code: 400, when: 'the verification token is unknown, used or expired' },
  phone_taken: { code: 400, when: 'the phone already has an account; the verification token stays valid' },
  no_account: { code: 400, when: 'the phone of the verification token does not have an account' },
  wrong_credentials: { code: 1000, when: 'the phone does not have an account, or the password is wrong' },
  account_suspended: {
    code: 403,
    when: 'the account is suspended by the operator; the password or the token was right',
  },
  start_over_off: { code: 403, when: 'the operator does not hand numbers on' },
  password_required: { code: 403, when: 'the operator requires a password, and a code is not enough' },
  has_password: { code: 400, when: 'the account has a password already' },
  wrong_password: { code: 400, when: "the user's current password is wrong" },
  too_many_attempts: { code: 429, when: 'the password was tried or changed too often' },
  too_many_at_once: { code: 429, when: 'too many of these requests are in progress for this user, phone or address' },

  unknown_audience: { code: 400, when: 'tokens are not given for this service' },

  // Users, their profiles and their blacklists.
  no_such_user: { code: 404, when: 'the user does not exist, or is hidden from the caller' },
  unknown_user: { code: 400, when: 'a user in the body does not exist' },
  not_yourself: { code: 400, when: 'the body names the caller where it must name another user' },
  too_many_lookups: { code: 429, when: 'this user has looked up too many phones' },
  too_many_changes: { code: 429, when: 'this user has made too many changes' },
  portrait_host_not_allowed: { code: 400, when: 'the portrait is on a host that the operator does not allow' },
  blacklist_full: { code: 400, when: "the user's blacklist is full" },
  too_many_blacklist_adds: { code: 429, when: 'this user has added too many users to the blacklist' },

  // Friendships.
  already_friends: { code: 400, when: 'the two users are friends already' },
  not_friends: { code: 404, when: 'the two users are not friends' },
  nothing_requested: {
    code: 404,
    when: 'there is no pending request from the other user or, for withdraw, from the caller',
  },
  too_many_friends: { code: 400, when: 'the user has as many friends and sent requests as allowed' },
  too_many_invitations: { code: 429, when: 'this user has sent too many invitations' },

  // Groups.
  no_such_group: { code: 404, when: 'the group does not exist, or the caller is not a member' },
  role_too_low: { code: 403, when: "the member's role does not allow this" },
  joining_closed: { code: 403, when: 'users cannot join a group by themselves; a member must add them' },
  group_full: { code: 400, when: 'the group does not have room for all these members' },
  not_a_member: { code: 400, when: 'a user in the body is not another member of the group' },
  friends_only: { code: 400, when: 'a user in the body is not a friend of the caller' },
  has_quit: { code: 400, when: 'a user in the body has quit the group, and can only return by joining it' },
  member_full: { code: 400, when: 'a user in the body is in as many groups as allowed' },
  too_many_groups: { code: 1000, when: 'the user has created as many groups as allowed' },
  too_many_memberships: { code: 1000, when: 'the user is in as many groups as allowed' },
  too_many_group_changes: { code: 429, when: 'this user has made too many changes in groups' },
  too_many_new_groups: { code: 429, when: 'this user has reached the daily limit of new groups' },

  // Only the admin API.
  admin_token_wrong: { code: 401, when: 'the token is missing, unknown, expired or revoked' },
  scope_too_low: { code: 403, when: "the token's scope does not allow this command" },
  admin_mistake: { code: 400, when: 'the command cannot be run on this; `message` says why' },
  not_sure: { code: 400, when: 'the command cannot be undone, and `yes` was not sent' },
  too_many_admin_calls: {
    code: 429,
    when: 'this token has made too many calls, or this address has sent too many wrong tokens',
  },

  // Images.
  ...IMAGE_REASONS,
} as const satisfies Record<string, { code: number; when: string }>;

export type Reason = keyof typeof REASONS;

/** Reasons with this code. */
export type ReasonOf<Code extends number> = {
  [Name in Reason]: (typeof REASONS)[Name]['code'] extends Code ? Name : never;
}[Reason];

/** Reasons of every operation besides its own: any input may be malformed, and any operation may fail. */
export const COMMON_REASONS = [
  'invalid_input',
  'malformed_body',
  'malformed_path',
  'not_signed_in',
  'cross_site',
  'body_too_large',
  'internal_error',
  'overloaded',
  'took_too_long',
] as const satisfies Reason[];
