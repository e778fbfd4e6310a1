import { operation, type Operation } from '../../http/operation';
import type { PublicUrlOf } from '../../http/public-url';
import type { SessionCookies } from '../sessions/session-cookies';
import type { NewSession } from '../sessions/sessions-repository';
import type { SessionsService } from '../sessions/sessions-service';
import {
  credentials,
  firstPassword,
  newAccount,
  passwordChange,
  registration,
  reset,
  signedIn,
  tokenLogin,
  tokenRegistration,
} from './auth-schemas';
import type { AuthService } from './auth-service';
import type { DeviceCookies } from './device-cookies';
import { unknownToken, type TokenLogins } from './token-logins';

interface Deps {
  auth: AuthService;
  tokenLogins: TokenLogins;
  sessions: SessionsService;
  cookies: SessionCookies;
  devices: DeviceCookies;
  publicUrlOf: PublicUrlOf;
}

/** Common to the operations that begin a session. */
const BEGINNING = {
  access: 'visitor',
  result: signedIn,
  cookies: { sets: 'The cookie of the session, then that of the device.', always: true },
} as const;
const REFUSALS_OF_SESSIONS = ['account_suspended', 'too_many_attempts', 'too_many_at_once', 'https_required'] as const;

export function authRouter({ auth, tokenLogins, sessions, cookies, devices, publicUrlOf }: Deps): Operation[] {
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
      ...BEGINNING,
      body: credentials,
      refusals: ['wrong_credentials', ...REFUSALS_OF_SESSIONS],
      handle: async ({ password, ...phone }, { req, res, caller }) => {
        const account = await auth.authenticate(phone, password, caller, devices.find(req));
        const token = await auth.messagingToken(account, publicUrlOf(req));
        await cookies.start(req, account, (session) => auth.beginSession(account, session, caller));
        devices.set(res, account);
        return { id: account.id, token };
      },
    }),
    operation({
      path: '/user/login_by_token',
      summary: 'Starts a session with a verification token, without a password.',
      ...BEGINNING,
      body: tokenLogin,
      refusals: ['password_required', 'wrong_token', 'no_account', ...REFUSALS_OF_SESSIONS],
      handle: ({ verification_token }, { req, res, caller }) =>
        tokenLogins.oneAtATime(verification_token, async (hash) => {
          const entrant = await tokenLogins.login(hash, caller);
          const { account, operation } = entrant;
          const token = await auth.messagingToken(account, publicUrlOf(req), () => unknownToken(operation));
          const begin = (session: NewSession) => tokenLogins.begin(entrant, session, caller);
          await cookies.start(req, account, begin, { byToken: true });
          devices.set(res, account);
          return { id: account.id, token };
        }),
    }),
    operation({
      path: '/user/register_by_token',
      summary: 'Creates an account without a password for the phone of a verification token, and starts a session.',
      ...BEGINNING,
      body: tokenRegistration,
      refusals: ['password_required', 'no_such_token', 'phone_taken', ...REFUSALS_OF_SESSIONS],
      handle: ({ verification_token, nickname }, { req, res, caller }) =>
        tokenLogins.oneAtATime(verification_token, async (hash) => {
          const entrant = await tokenLogins.register(hash, nickname, caller);
          const { account, operation } = entrant;
          let token = '';
          const begin = async (session: NewSession) => {
            await tokenLogins.begin(entrant, session, caller);
            // Only for an account that exists. If it fails, no cookie is set, and the request can be repeated.
            token = await auth.messagingToken(account, publicUrlOf(req), () => unknownToken(operation));
          };
          await cookies.start(req, account, begin, { byToken: true });
          devices.set(res, account);
          return { id: account.id, token };
        }),
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
      path: '/user/set_password',
      summary: 'Sets the first password of an account that has none, and ends all other sessions.',
      access: 'user',
      body: firstPassword,
      queue: 'writes',
      cookies: { sets: 'The cookie of the device, if the request had one.', always: false },
      refusals: ['has_password', 'wrong_token', 'too_many_at_once'],
      handle: async ({ verification_token, password }, { req, res, session, caller }) => {
        const account = await auth.setPassword(session, verification_token, password, caller);
        // Only for clients that keep device cookies, as after a changed password.
        if (devices.find(req)) devices.set(res, account);
      },
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
