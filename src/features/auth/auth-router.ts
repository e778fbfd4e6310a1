import { operation, type Operation } from '../../http/operation';
import type { PublicUrlOf } from '../../http/public-url';
import type { SessionCookies } from '../sessions/session-cookies';
import type { SessionsService } from '../sessions/sessions-service';
import { credentials, newAccount, passwordChange, registration, reset, signedIn } from './auth-schemas';
import type { AuthService } from './auth-service';
import type { DeviceCookies } from './device-cookies';

interface Parts {
  auth: AuthService;
  sessions: SessionsService;
  cookies: SessionCookies;
  devices: DeviceCookies;
  publicUrlOf: PublicUrlOf;
}

export function authRouter({ auth, sessions, cookies, devices, publicUrlOf }: Parts): Operation[] {
  return [
    operation({
      path: '/user/register',
      summary: 'Creates an account for the phone of a verification token.',
      access: 'anyone',
      body: registration,
      result: newAccount,
      refusals: ['no_such_token', 'phone_taken', 'too_many_at_once'],
      handle: async ({ verification_token, ...account }, { caller }) => ({
        id: await auth.register(verification_token, account, caller),
      }),
    }),
    operation({
      path: '/user/login',
      summary: 'Starts a session, whose cookie is the first in the answer.',
      access: 'visitor',
      body: credentials,
      result: signedIn,
      cookies: { sets: 'The cookie of the session, then that of the device.', always: true },
      refusals: ['wrong_credentials', 'account_suspended', 'too_many_attempts', 'too_many_at_once', 'https_required'],
      handle: async ({ password, ...phone }, { req, res, caller }) => {
        const account = await auth.authenticate(phone, password, caller, devices.find(req));
        const token = await auth.messagingToken(account, publicUrlOf(req));
        await cookies.start(req, account, (session) => auth.beginSession(account, session, caller));
        devices.set(res, account);
        return { id: account.id, token };
      },
    }),
    operation({
      path: '/user/logout',
      summary: 'Ends the session, and removes its cookie.',
      access: 'user',
      queue: 'writes',
      cookies: { sets: 'Removes the cookie of the session.', always: true },
      handle: async (_input, { req, res, session, caller }) => {
        await sessions.logOut(session, caller);
        cookies.forget(req, res);
      },
    }),
    operation({
      path: '/user/reset_password',
      summary: 'Sets a new password with a verification token, and ends all sessions.',
      access: 'anyone',
      body: reset,
      refusals: ['wrong_token', 'no_account', 'too_many_at_once'],
      handle: ({ verification_token, password }, { caller }) =>
        auth.resetPassword(verification_token, password, caller),
    }),
    operation({
      path: '/user/change_password',
      summary: 'Sets a new password with the old one, and ends all other sessions.',
      access: 'user',
      body: passwordChange,
      queue: 'writes',
      cookies: { sets: 'The cookie of the device, if the request had one.', always: false },
      refusals: ['wrong_password', 'too_many_attempts', 'too_many_at_once'],
      handle: async (passwords, { req, res, session, caller }) => {
        const device = devices.find(req);
        const account = await auth.changePassword(session, passwords, caller, device);
        // Only for clients that sent a device cookie: others may keep only the session's cookie.
        if (device) devices.set(res, account);
      },
    }),
  ];
}
