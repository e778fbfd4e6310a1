import { IMAGE_REASONS } from '../../packages/image-server/src/reasons';

/**
 * Why the service refuses, in words for programs: a client decides by them, and they stay. Each has one code, which is a
 * return code or the HTTP status of the answer. docs/reasons.md says what a client does then.
 */
export const REASONS = {
  // What all operations have.
  invalid_input: { code: 400, when: 'a field is missing or malformed; `details` names it' },
  malformed_body: { code: 400, when: 'the body is no JSON object in UTF-8, or cannot be read' },
  malformed_path: { code: 400, when: 'the path cannot be decoded' },
  not_signed_in: { code: 401, when: 'there is no session, or it has ended' },
  cross_site: { code: 403, when: 'a browser sent it from a page of another site' },
  no_such_path: { code: 404, when: 'there is no such path' },
  method_not_allowed: { code: 405, when: 'the path takes another method, which `Allow` names' },
  body_too_large: { code: 413, when: 'the body has more than 16 KiB' },
  internal_error: { code: 500, when: 'something of the service, or the messaging provider, has failed' },
  https_required: { code: 500, when: 'the request did not arrive over HTTPS, as the operator has set the service up' },
  overloaded: { code: 503, when: 'there are too many requests, or the database is away' },
  took_too_long: { code: 503, when: 'it took too long: it may have been done or not' },

  // Before an operation is found.
  malformed_http: { code: 400, when: 'the request is no HTTP' },
  request_too_slow: { code: 408, when: 'the request did not arrive in time' },
  too_early: { code: 425, when: 'the request came as TLS early data, which others can replay' },
  headers_too_large: { code: 431, when: 'the headers have more than 16 KiB' },
  bad_gateway: { code: 502, when: 'the proxy had no whole answer from the service' },
  service_away: { code: 503, when: 'the proxy finds no instance of the service that answers' },

  // Of /openapi.json and the files of /docs.
  too_many_downloads: { code: 429, when: 'this address has downloaded too much of the description or of /docs' },

  // Of /readyz alone.
  stopping: { code: 503, when: 'this instance is stopping' },
  not_ready: { code: 503, when: 'the database of this instance lacks migrations, or takes no writes' },

  // Codes and captchas.
  wrong_code: { code: 1000, when: 'the code is wrong, or none was sent to this phone' },
  code_expired: { code: 2000, when: 'the code is spent or has expired' },
  guesses_spent: { code: 2000, when: 'too many wrong codes were tried for the day' },
  too_soon: { code: 5000, when: 'the last code was sent to this phone a moment ago' },
  captcha_required: {
    code: 5000,
    when: 'so many codes are sent only with a solved captcha, and none came that is right',
  },
  daily_limit: { code: 5000, when: 'this phone has been sent all codes of the day' },
  address_limit: { code: 5000, when: 'this address has asked for too many codes' },
  no_guesses_left: { code: 5000, when: 'too many wrong codes were tried for this phone, so that no new one is sent' },
  sending_paused: { code: 5000, when: 'no code is sent for now, to this region or by the whole service' },
  captcha_missing: { code: 400, when: 'a solved captcha is wanted with each request' },
  captcha_wrong: {
    code: 400,
    when: 'a solved captcha is wanted, and this one is wrong, was tried before, or is too old',
  },
  captcha_unchecked: { code: 503, when: 'a captcha is wanted, and it could not be checked now' },
  region_not_served: { code: 400, when: 'no codes are sent to this region' },
  not_a_mobile: { code: 400, when: 'codes are sent to mobile numbers alone' },
  undeliverable: { code: 400, when: 'the SMS provider does not deliver to this number' },
  sms_failed: { code: 503, when: 'the SMS provider is away: no code was sent' },
  sms_unconfirmed: { code: 503, when: 'the SMS provider did not answer in time: the code may still arrive' },
  too_many_checks: { code: 429, when: 'too many phones were checked, or captchas asked for, from this address' },
  too_many_verifications: { code: 429, when: 'too many codes were typed in from this address' },
  no_such_captcha: { code: 404, when: 'there is no such captcha, or it has expired or been tried' },

  // Accounts and passwords.
  no_such_token: { code: 404, when: 'the verification token is unknown, spent or expired, at register' },
  wrong_token: { code: 400, when: 'the verification token is unknown, spent or expired' },
  phone_taken: { code: 400, when: 'the phone has an account already; the token stays good' },
  no_account: { code: 400, when: 'the phone of the verification token has no account' },
  wrong_credentials: { code: 1000, when: 'the phone has no account, or the password is wrong' },
  wrong_password: { code: 400, when: 'the own password is wrong' },
  too_many_attempts: { code: 429, when: 'the password was tried, or changed, too often' },
  too_many_at_once: { code: 429, when: 'too many of these are under way for this user, phone or address' },

  // Users, their profiles and their blacklists.
  no_such_user: { code: 404, when: 'there is no such user, for this user' },
  unknown_user: { code: 400, when: 'a user that the body names is not there' },
  not_yourself: { code: 400, when: 'the body names the user, where it must name others' },
  too_many_lookups: { code: 429, when: 'this user has looked up too many phones' },
  too_many_changes: { code: 429, when: 'this user has changed the profile too often' },
  portrait_host_not_allowed: { code: 400, when: 'the portrait is on a host that the operator does not allow' },
  blacklist_full: { code: 400, when: "the user's blacklist is full" },
  too_many_blacklist_adds: { code: 429, when: 'this user has added too many to the blacklist' },

  // Friendships.
  already_friends: { code: 400, when: 'the other is a friend of the user already' },
  not_friends: { code: 404, when: 'the other is no friend of the user' },
  nothing_requested: { code: 404, when: 'there is no open request of the other, or, to withdraw it, of the user' },
  too_many_friends: { code: 400, when: 'the user has as many friends, and own requests, as one may have' },
  too_many_invitations: { code: 429, when: 'this user has invited too many' },

  // Groups.
  no_such_group: { code: 404, when: 'the group is none of the user, or not there' },
  role_too_low: { code: 403, when: 'a member of the group has not the role that this takes' },
  joining_closed: { code: 403, when: 'nobody joins a group without being added by a member' },
  group_full: { code: 400, when: 'the group has no room for so many members' },
  not_a_member: { code: 400, when: 'a user that the body names is no other member of the group' },
  friends_only: { code: 400, when: 'a user that the body names is no friend of the user' },
  has_quit: { code: 400, when: 'a user that the body names has quit the group, and only comes back by joining it' },
  member_full: { code: 400, when: 'a user that the body names is in as many groups as one may be' },
  too_many_groups: { code: 1000, when: 'there are as many groups that the user made as there may be' },
  too_many_memberships: { code: 1000, when: 'the user is in as many groups as one may be' },
  too_many_group_changes: { code: 429, when: 'this user has changed too much in groups' },
  too_many_new_groups: { code: 429, when: 'this user has created too many groups for the day' },

  // Images, and what they are refused by.
  ...IMAGE_REASONS,
} as const satisfies Record<string, { code: number; when: string }>;

export type Reason = keyof typeof REASONS;

/** Those that have this code. */
export type ReasonOf<Code extends number> = {
  [Name in Reason]: (typeof REASONS)[Name]['code'] extends Code ? Name : never;
}[Reason];

/** Of any operation, beside those that it names: whatever is sent may be malformed, and whatever it asks may fail. */
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
