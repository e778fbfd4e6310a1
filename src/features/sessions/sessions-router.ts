import { Router } from 'express';
import { jsonBody } from '../../http/body';
import { callerOf } from '../../http/caller';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import { ownSession, userIdOf } from '../../http/session';
import { sessionToEnd, sessionView } from './sessions-schemas';
import type { SessionsService } from './sessions-service';

export function sessionsRouter(sessions: SessionsService, { signedIn, signedInWithBody, inTurn }: Access): Router {
  const router = Router();

  post(router, '/sessions', signedIn, async (req, res) => {
    ok(res, (await sessions.of(ownSession(req))).map(sessionView));
  });

  post(
    router,
    '/end_session',
    signedInWithBody,
    inTurn(async (req, res) => {
      const { id } = parse(sessionToEnd, jsonBody(req));
      await sessions.end(userIdOf(req), id, callerOf(req));
      ok(res);
    }),
  );

  return router;
}
