import { operation, streamedOperation, type Operation, type UserCall } from '../../http/operation';
import type { DeviceCookies } from '../auth/device-cookies';
import type { SessionCookies } from '../sessions/session-cookies';
import { sessionView } from '../sessions/sessions-schemas';
import { findability, newPhone, ownPassword } from './account-schemas';
import type { AccountService, Asker } from './account-service';
import { keptData } from './export-schemas';
import type { ExportService } from './export-service';

interface Parts {
  account: AccountService;
  exporting: ExportService;
  cookies: SessionCookies;
  devices: DeviceCookies;
}

export function accountRouter({ account, exporting, cookies, devices }: Parts): Operation[] {
  const askerOf = ({ req, session, caller }: UserCall): Asker => ({ ...session, caller, device: devices.find(req) });
  return [
    operation({
      path: '/user/close_account',
      summary: 'Closes the account: ends everything that belongs to it, and frees its phone.',
      access: 'user',
      body: ownPassword,
      queue: 'writes',
      cookies: { sets: 'Removes the cookie of the session.', always: true },
      refusals: ['wrong_password', 'too_many_attempts', 'too_many_at_once'],
      handle: async ({ password }, call) => {
        await account.close(askerOf(call), password);
        cookies.forget(call.req, call.res);
      },
    }),
    operation({
      path: '/user/change_phone',
      summary: 'Changes the phone to that of a verification token, and ends all other sessions.',
      access: 'user',
      body: newPhone,
      queue: 'writes',
      cookies: { sets: 'The cookie of the device, if the request had one.', always: false },
      refusals: ['wrong_password', 'wrong_token', 'phone_taken', 'too_many_attempts', 'too_many_at_once'],
      handle: async ({ password, verification_token }, call) => {
        const asker = askerOf(call);
        const changed = await account.changePhone(asker, password, verification_token);
        // Only for clients that keep device cookies, as after a changed password.
        if (asker.device) devices.set(call.res, changed);
      },
    }),
    streamedOperation({
      path: '/user/export',
      summary: 'Returns all data of the user, except passwords, tokens and codes.',
      access: 'user',
      result: keptData,
      queue: 'exports',
      file: 'account.json',
      stream: async (_input, { session, caller }) => {
        const kept = await exporting.collect(session, caller);
        return { ...kept, sessions: kept.sessions.map(sessionView) };
      },
    }),
    operation({
      path: '/user/set_findable',
      summary: 'Sets whether users who are not friends find the user by phone.',
      access: 'user',
      body: findability,
      queue: 'writes',
      limits: ['changesPerHour'],
      handle: ({ findable }, { userId }) => account.setFindable(userId, findable),
    }),
  ];
}
