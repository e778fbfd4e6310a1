import { Router } from 'express';
import { jsonBody } from '../../http/body';
import { addressOf } from '../../http/client-address';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import type { PublicUrlOf } from '../../http/public-url';
import { userIdOf, type Sessions } from '../../http/session';
import { wrongCredentials, type AuthService } from './auth-service';
import { credentials, passwordChange, registration, reset } from './auth-schemas';
import type { SessionsRepository } from './sessions-repository';

interface Parts {
  auth: AuthService;
  sessions: Sessions;
  sessionRows: SessionsRepository;
  publicUrlOf: PublicUrlOf;
}

export function authRouter({ auth, sessions, sessionRows, publicUrlOf }: Parts, access: Access): Router {
  const router = Router();

  post(router, '/register', access.anyone, async (req, res) => {
    const { nickname, password, verification_token } = parse(registration, jsonBody(req));
    ok(res, { id: await auth.register(verification_token, nickname, password) });
  });

  post(router, '/login', access.visitor, async (req, res) => {
    const { password, ...phone } = parse(credentials, jsonBody(req));
    const caller = { address: addressOf(req), publicUrl: publicUrlOf(req) };
    const { account, messagingToken } = await auth.login(phone, password, caller);
    const begun = await sessions.start(req, account.id, (row) => sessionRows.start(row, account.credentialsVersion));
    // The password has just been changed: by now it is a wrong one.
    if (!begun) throw wrongCredentials();
    ok(res, { id: account.id, token: messagingToken });
  });

  post(router, '/logout', access.signedIn, async (req, res) => {
    await sessions.end(req, res);
    ok(res);
  });

  post(router, '/reset_password', access.anyone, async (req, res) => {
    const { password, verification_token } = parse(reset, jsonBody(req));
    await auth.resetPassword(verification_token, password);
    ok(res);
  });

  post(router, '/change_password', access.signedInWithBody, async (req, res) => {
    const { oldPassword, newPassword } = parse(passwordChange, jsonBody(req));
    const session = { userId: userIdOf(req), sid: req.sessionID };
    await auth.changePassword(session, oldPassword, newPassword, addressOf(req));
    ok(res);
  });

  return router;
}
