import { operation, streamedOperation, type Operation, type UserCall } from '../../http/operation';
import type { DeviceCookies } from '../auth/device-cookies';
import type { SessionCookies } from '../sessions/session-cookies';
import { sessionView } from '../sessions/sessions-schemas';
import {
  findability,
  newPhone,
  ownClaim,
  ownClaimView,
  ownNumber,
  ownPassword,
  startedOver,
  startedOverView,
} from './account-schemas';
import type { AccountService, Asker } from './account-service';
import { keptClaimView, keptData } from './export-schemas';
import type { ExportService } from './export-service';
import type { NumberClaimsService } from './number-claims-service';

interface Deps {
  account: AccountService;
  numberClaims: NumberClaimsService;
  exporting: ExportService;
  cookies: SessionCookies;
  devices: DeviceCookies;
}

export function accountRouter({ account, numberClaims, exporting, cookies, devices }: Deps): Operation[] {
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
    operation({
      path: '/user/start_over',
      summary: 'Says that the account of a phone is not that of the person who has the phone now.',
      access: 'anyone',
      body: ownNumber,
      result: startedOver,
      refusals: ['wrong_token', 'start_over_off', 'account_suspended', 'too_many_at_once'],
      handle: async ({ verification_token }, { caller }) =>
        startedOverView(await numberClaims.startOver(verification_token, caller)),
    }),
    operation({
      path: '/user/number_claim',
      summary: "Returns the claim of the user's phone by another person, if there is one.",
      access: 'user',
      result: ownClaim,
      handle: async (_input, { session }) => ownClaimView(await numberClaims.ofSession(session)),
    }),
    operation({
      path: '/user/keep_number',
      summary: "Ends the claim of the user's phone.",
      access: 'user',
      body: ownPassword,
      queue: 'writes',
      refusals: ['wrong_password', 'too_many_attempts', 'too_many_at_once'],
      handle: ({ password }, call) => numberClaims.keep(askerOf(call), password),
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
        const { numberClaims, sessions } = kept;
        return { ...kept, numberClaims: numberClaims.map(keptClaimView), sessions: sessions.map(sessionView) };
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
