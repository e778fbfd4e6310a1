import { operation, type Operation } from '../../http/operation';
import type { SessionCookies } from './session-cookies';
import { isSignedIn, ownSessions, sessionToEnd, sessionView } from './sessions-schemas';
import type { SessionsService } from './sessions-service';

export function sessionsRouter(sessions: SessionsService, cookies: SessionCookies): Operation[] {
  return [
    operation({
      path: '/user/sessions',
      summary: "Returns the user's sessions, the newest first.",
      access: 'user',
      result: ownSessions,
      handle: async (_input, { session }) => (await sessions.list(session)).map(sessionView),
    }),
    operation({
      path: '/user/sessions/check',
      summary: 'Returns whether the request has the session of a user.',
      access: 'anyone',
      knowsSession: true,
      result: isSignedIn,
      handle: (_input, { req, res }) => cookies.isSignedIn(req, res),
    }),
    operation({
      path: '/user/end_session',
      summary: "Ends one of the user's sessions.",
      access: 'user',
      body: sessionToEnd,
      queue: 'writes',
      refusals: ['too_many_changes'],
      handle: ({ id }, { userId, caller }) => sessions.end(userId, id, caller),
    }),
  ];
}
