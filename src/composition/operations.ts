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

/**
 * Returns every operation by resource, under the resource's name in the API document. Calls no service, so that the
 * list can also be made without any.
 */
export function operations(
  services: Services,
  { cookies, devices }: Cookies,
  publicUrlOf: PublicUrlOf,
): Record<string, Operation[]> {
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
