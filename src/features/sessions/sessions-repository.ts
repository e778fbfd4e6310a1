import type { Knex } from 'knex';
import { prepared } from '../../database/prepared';
import type { NewSession } from '../../http/session';
import type { Caller } from '../audit/caller';

const OWNER = `sess ->> 'userId'`;
/** What a session is called outside: it can't be turned back into the id in the cookie. */
const PUBLIC_ID = `encode(sha256(convert_to(sid, 'UTF8')), 'hex')`;

export interface OwnSession {
  id: string;
  createdAt: number;
  renewedAt: number;
  ip: string;
  userAgent: string;
  isCurrent: boolean;
}

/** What express-session and connect-pg-simple don't do: sessions as something that belongs to a user. */
export class SessionsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Puts a session there, unless the password has been changed since `credentialsVersion` was read. FOR SHARE waits for a
   * change that is under way, and makes a later one wait, whose DELETE then sees this row: no session survives a reset.
   * The audit trail gets its event in the same statement.
   */
  async start(session: NewSession, credentialsVersion: number, caller: Caller): Promise<boolean> {
    const { sid, userId, data, expires } = session;
    const { rowCount } = await prepared(
      this.db,
      'start-session',
      `WITH owner AS (
         SELECT id FROM users WHERE id = ? AND credentials_version = ? AND closed_at IS NULL FOR SHARE),
       noted AS (
         INSERT INTO security_events (event, user_id, ip, user_agent, request_id)
         SELECT 'logged_in', id, ?, ?, ? FROM owner)
       INSERT INTO session (sid, sess, expire) SELECT ?, ?::json, ? FROM owner`,
      [
        ...[userId, credentialsVersion, caller.ip, caller.userAgent, caller.requestId],
        ...[sid, JSON.stringify(data), expires],
      ],
    );
    return rowCount > 0;
  }

  /** The newest first. */
  async of(userId: string, currentSid: string, maxDays: number): Promise<OwnSession[]> {
    const { rows } = await this.db.raw<{ rows: OwnSession[] }>(
      `SELECT ${PUBLIC_ID} AS id, (sess ->> 'createdAt')::bigint AS "createdAt",
              (sess ->> 'renewedAt')::bigint AS "renewedAt", coalesce(sess ->> 'ip', '') AS ip,
              coalesce(sess ->> 'userAgent', '') AS "userAgent", sid = ? AS "isCurrent"
         FROM session
        WHERE ${OWNER} = ? AND expire > now()
          AND (sess ->> 'createdAt')::bigint > extract(epoch FROM now() - make_interval(days => ?)) * 1000
        ORDER BY 2 DESC, 1`,
      [currentSid, userId, maxDays],
    );
    return rows;
  }

  /** Only a session of this user's is ended, whatever the id. */
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
