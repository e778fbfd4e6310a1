import type { SessionData } from 'express-session';
import { statement } from '../../database/statement';

/** A session that has not expired, of an account that is neither closed nor suspended, under its present password. */
export function liveSessionSql(sid: string): string {
  return `SELECT sess, users.id AS user_id FROM session JOIN users ON users.id = sess ->> 'userId'
    WHERE sid = ${sid} AND expire > now() AND closed_at IS NULL AND suspended_at IS NULL
      AND credentials_version = (sess ->> 'credentialsVersion')::integer`;
}

export const liveSession = statement<{ sess: Partial<SessionData> }, 'sid'>('session', liveSessionSql(':sid'));
