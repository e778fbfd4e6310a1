import type { SessionData } from 'express-session';
import { statement, type Source } from '../../database/statement';

/** A session that has not expired, of an account that is neither closed nor suspended, under its present password. */
export function liveSessionSql(sid: string): string {
  return `SELECT sess, users.id AS user_id FROM session JOIN users ON users.id = sess ->> 'userId'
    WHERE sid = ${sid} AND expire > now() AND closed_at IS NULL AND suspended_at IS NULL
      AND credentials_version = (sess ->> 'credentialsVersion')::integer`;
}

interface SessionRow {
  sess: Partial<SessionData>;
}

/** In one statement where one server has the session and its user, which saves a round trip. */
const live = statement<SessionRow, 'sid'>('session', liveSessionSql(':sid'), {
  distributed: async (on, { sid }: { sid: string }) => {
    const sess = await unexpiredSession(on, sid);
    return sess && (await hasOwner(on, sess)) ? [{ sess }] : [];
  },
});

const keptSession = statement<SessionRow, 'sid'>(
  'kept-session',
  'SELECT sess FROM session WHERE sid = :sid AND expire > now()',
);

const owner = statement<{ id: string }, 'userId' | 'credentialsVersion'>(
  'owner-of-session',
  `SELECT id FROM users
    WHERE id = :userId AND closed_at IS NULL AND suspended_at IS NULL
      AND credentials_version = :credentialsVersion::integer`,
);

/** Returns a session that has not expired. Whether it is good is only known once `hasOwner` is asked. */
export async function unexpiredSession(on: Source, sid: string): Promise<Partial<SessionData> | undefined> {
  const [row] = await keptSession(on, { sid });
  return row?.sess;
}

export async function hasOwner(on: Source, { userId, credentialsVersion }: Partial<SessionData>): Promise<boolean> {
  if (userId === undefined || credentialsVersion === undefined) return false;
  return (await owner(on, { userId, credentialsVersion })).length > 0;
}

export async function liveSession(on: Source, sid: string): Promise<Partial<SessionData> | undefined> {
  const [row] = await live(on, { sid });
  return row?.sess;
}
