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
      summary: 'Closes the account: what belongs to it ends, and its phone is free again.',
      access: 'user',
      body: ownPassword,
      queue: 'writes',
      cookies: { sets: 'The end of the session.', always: true },
      refusals: ['wrong_password', 'too_many_attempts', 'too_many_at_once'],
      handle: async ({ password }, call) => {
        await account.close(askerOf(call), password);
        cookies.forget(call.req, call.res);
      },
    }),
    operation({
      path: '/user/change_phone',
      summary: 'Gives the account the phone of a verification token, and ends all other sessions.',
      access: 'user',
      body: newPhone,
      queue: 'writes',
      cookies: { sets: 'The device, where its cookie was sent.', always: false },
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
      summary: 'Everything that is kept of the user, but for what lets somebody in.',
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
      summary: 'Whether others than friends find the user by the phone.',
      access: 'user',
      body: findability,
      queue: 'writes',
      limits: ['changesPerHour'],
      handle: ({ findable }, { userId }) => account.setFindable(userId, findable),
    }),
  ];
}
