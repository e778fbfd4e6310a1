import { operation, type Operation } from '../../http/operation';
import { ownSessions, sessionToEnd, sessionView } from './sessions-schemas';
import type { SessionsService } from './sessions-service';

export function sessionsRouter(sessions: SessionsService): Operation[] {
  return [
    operation({
      path: '/user/sessions',
      summary: "Returns the user's sessions, the newest first.",
      access: 'user',
      result: ownSessions,
      handle: async (_input, { session }) => (await sessions.list(session)).map(sessionView),
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
