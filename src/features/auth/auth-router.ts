import { Router } from 'express';
import { jsonBody } from '../../http/body';
import { callerOf } from '../../http/caller';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import type { PublicUrlOf } from '../../http/public-url';
import { ownSession, type Sessions } from '../../http/session';
import type { SessionsService } from '../sessions/sessions-service';
import type { AuthService } from './auth-service';
import { credentials, passwordChange, registration, reset } from './auth-schemas';

interface Parts {
  auth: AuthService;
  ownSessions: SessionsService;
  sessions: Sessions;
  publicUrlOf: PublicUrlOf;
}

export function authRouter({ auth, ownSessions, sessions, publicUrlOf }: Parts, access: Access): Router {
  const router = Router();

  post(router, '/register', access.anyone, async (req, res) => {
    const { nickname, password, verification_token } = parse(registration, jsonBody(req));
    ok(res, { id: await auth.register(verification_token, { nickname, password }, callerOf(req)) });
  });

  post(router, '/login', access.visitor, async (req, res) => {
    const { password, ...phone } = parse(credentials, jsonBody(req));
    const caller = callerOf(req);
    const account = await auth.authenticate(phone, password, caller);
    const token = await auth.messagingToken(account, publicUrlOf(req));
    await sessions.start(req, account.id, (session) => auth.beginSession(account, session, caller));
    ok(res, { id: account.id, token });
  });

  post(
    router,
    '/logout',
    access.signedIn,
    access.inTurn(async (req, res) => {
      await ownSessions.logOut(ownSession(req), callerOf(req));
      await sessions.forget(req, res);
      ok(res);
    }),
  );

  post(router, '/reset_password', access.anyone, async (req, res) => {
    const { password, verification_token } = parse(reset, jsonBody(req));
    await auth.resetPassword(verification_token, password, callerOf(req));
    ok(res);
  });

  post(
    router,
    '/change_password',
    access.signedInWithBody,
    access.inTurn(async (req, res) => {
      const { oldPassword, newPassword } = parse(passwordChange, jsonBody(req));
      await auth.changePassword(ownSession(req), { oldPassword, newPassword }, callerOf(req));
      ok(res);
    }),
  );

  return router;
}
