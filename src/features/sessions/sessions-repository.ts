import type { SessionData } from 'express-session';
import type { Knex } from 'knex';
import type { Caller } from '../../caller';
import { statement } from '../../database/statement';

const OWNER = `sess ->> 'userId'`;
/** The id that clients see. The cookie's id cannot be computed from it. */
const PUBLIC_ID = `encode(sha256(convert_to(sid, 'UTF8')), 'hex')`;

/** Ready to be inserted once its owner has proved to be the right one. */
export interface NewSession {
  sid: string;
  userId: string;
  data: SessionData;
  expires: Date;
}

export interface SessionRow {
  id: string;
  createdAt: number;
  renewedAt: number;
  ip: string;
  userAgent: string;
  isCurrent: boolean;
}

const startSession = statement<
  { sid: string },
  'sid' | 'userId' | 'data' | 'expires' | 'credentialsVersion' | 'ip' | 'userAgent' | 'requestId'
>(
  'start-session',
  `WITH owner AS (
     SELECT id FROM users
      WHERE id = :userId AND credentials_version = :credentialsVersion AND closed_at IS NULL FOR SHARE),
   noted AS (
     INSERT INTO security_events (event, user_id, ip, user_agent, request_id)
     SELECT 'logged_in', id, :ip, :userAgent, :requestId FROM owner)
   INSERT INTO session (sid, sess, expire) SELECT :sid, :data::json, :expires FROM owner RETURNING sid`,
);

const sessionsOfUser = statement<SessionRow, 'userId' | 'currentSid' | 'maxDays'>(
  'sessions-of-user',
  `SELECT ${PUBLIC_ID} AS id, (sess ->> 'createdAt')::bigint AS "createdAt",
          (sess ->> 'renewedAt')::bigint AS "renewedAt", coalesce(sess ->> 'ip', '') AS ip,
          coalesce(sess ->> 'userAgent', '') AS "userAgent", sid = :currentSid AS "isCurrent"
     FROM session
    WHERE ${OWNER} = :userId AND expire > now()
      AND (sess ->> 'createdAt')::bigint > extract(epoch FROM now() - make_interval(days => :maxDays)) * 1000
    ORDER BY 2 DESC, 1`,
);

/** The sessions of users. express-session and connect-pg-simple know only single sessions. */
export class SessionsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * False when the password has been changed since `credentialsVersion` was read. FOR SHARE waits for a change that is
   * under way. A later one waits for this statement, and its DELETE then sees this row: no session survives a reset.
   * The audit trail gets its event in the same statement.
   */
  async start(session: NewSession, credentialsVersion: number, caller: Caller): Promise<boolean> {
    const { sid, userId, data, expires } = session;
    const { ip, userAgent, requestId } = caller;
    const values = { sid, userId, data: JSON.stringify(data), expires, credentialsVersion, ip, userAgent, requestId };
    return (await startSession(this.db, values)).length > 0;
  }

  /** The newest first. */
  async of(userId: string, currentSid: string, maxDays: number): Promise<SessionRow[]> {
    return sessionsOfUser(this.db, { userId, currentSid, maxDays });
  }

  /** Ends only a session of this user. */
  async end(userId: string, id: string): Promise<number> {
    return this.db('session').whereRaw(`${OWNER} = ? AND ${PUBLIC_ID} = ?`, [userId, id]).delete();
  }

  async endBySid(sid: string): Promise<number> {
    return this.db('session').where({ sid }).delete();
  }

  async endAll(userId: string): Promise<number> {
    return this.db('session').whereRaw(`${OWNER} = ?`, [userId]).delete();
  }

  async endOthers(userId: string, sid: string): Promise<number> {
    return this.db('session').whereRaw(`${OWNER} = ?`, [userId]).whereNot({ sid }).delete();
  }
}
