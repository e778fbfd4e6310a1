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

/** Every operation, by resource. No service is called before an operation is, so that a list can be had without any. */
export function operations(services: Services, { cookies, devices }: Cookies, publicUrlOf: PublicUrlOf): Operation[][] {
  return [
    verificationRouter(services.sending, services.verifying),
    captchaRouter(services.captchas, publicUrlOf),
    authRouter({ auth: services.auth, sessions: services.sessions, cookies, devices, publicUrlOf }),
    sessionsRouter(services.sessions),
    profileRouter(services.profile),
    accountRouter({ account: services.account, exporting: services.exporting, cookies, devices }),
    blacklistRouter(services.blacklist),
    friendshipsRouter(services.friendships),
    membershipsRouter(services),
    groupsRouter(services.groups),
    syncRouter(services.sync),
    tokensRouter(services.tokens, publicUrlOf),
    // Last, since it has /:id.
    usersRouter(services.users),
  ];
}
