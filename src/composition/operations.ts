import { accountRouter } from '../features/account/account-router';
import { authRouter } from '../features/auth/auth-router';
import type { DeviceCookies } from '../features/auth/device-cookies';
import { blacklistRouter } from '../features/blacklist/blacklist-router';
import { friendshipsRouter } from '../features/friendships/friendships-router';
import { groupsRouter } from '../features/groups/groups-router';
import { membershipsRouter } from '../features/groups/memberships-router';
import { profileRouter } from '../features/profile/profile-router';
import type { SessionCookies } from '../features/sessions/session-cookies';
import { sessionsRouter } from '../features/sessions/sessions-router';
import { syncRouter } from '../features/sync/sync-router';
import { tokensRouter } from '../features/tokens/tokens-router';
import { usersRouter } from '../features/users/users-router';
import { captchaRouter } from '../features/verification/captcha-router';
import { verificationRouter } from '../features/verification/verification-router';
import type { Operation } from '../http/operation';
import type { PublicUrlOf } from '../http/public-url';
import type { Services } from './services';

export interface Cookies {
  cookies: SessionCookies;
  devices: DeviceCookies;
}

/** Resources, each with its text in the API document. */
export const RESOURCES = {
  Verification: 'Codes that prove who has a phone.',
  Captchas: 'Captchas that a client shows when the reason is `captcha_required`.',
  'Login and passwords': 'Registering, logging in and out, and changing or resetting a password.',
  Sessions: 'The places where the account is signed in.',
  Profile: 'The data that others see of the user.',
  Account: 'Changing the phone, exporting the data, and closing the account.',
  Blacklist: 'Users who cannot send the user requests, or add the user to groups.',
  Friendships: 'Friends, and requests to be friends.',
  'Group members': 'Adding, joining, quitting and kicking, and the roles.',
  Groups: 'Groups, and the data that members see of them.',
  Sync: 'All changes since the last call.',
  Tokens: 'Tokens for messaging and uploads, and the keys to check them with.',
  Users: 'Other users.',
};

/**
 * Returns every operation by resource, under the resource's name in the API document. Calls no service, so that the
 * list can also be made without any.
 */
export function operations(
  services: Services,
  { cookies, devices }: Cookies,
  publicUrlOf: PublicUrlOf,
): Record<keyof typeof RESOURCES, Operation[]> {
  const { auth, tokenLogins, sessions, words, sendCode, verifyCode, account, numberClaims, exporting } = services;
  return {
    Verification: verificationRouter({
      words,
      sending: sendCode,
      verifying: verifyCode,
      deviceOf: (req) => devices.find(req),
    }),
    Captchas: captchaRouter(services.captchas, publicUrlOf),
    'Login and passwords': authRouter({ auth, tokenLogins, sessions, cookies, devices, publicUrlOf }),
    Sessions: sessionsRouter(sessions, cookies),
    Profile: profileRouter(services.profile),
    Account: accountRouter({ account, numberClaims, exporting, cookies, devices }),
    Blacklist: blacklistRouter(services.blacklist),
    Friendships: friendshipsRouter(services.friendships),
    'Group members': membershipsRouter(services.memberships, services.dismissals),
    Groups: groupsRouter(services.groups),
    Sync: syncRouter(services.sync),
    Tokens: tokensRouter(services.tokens, publicUrlOf),
    // Last, since it has /:id.
    Users: usersRouter(services.users),
  };
}
