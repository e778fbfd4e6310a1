import { createHash } from 'node:crypto';
import type { SessionData } from 'express-session';
import type { Knex } from 'knex';
import type { Caller } from '../../base/caller';
import { addsToUser, findsAllOfUser, holdInPlace } from '../../database/hold-in-place';
import { statement } from '../../database/statement';
import { liveSession } from './live-session';

const OWNER = `sess ->> 'userId'`;
/** Maximum sessions of a user. Older ones end with the next login. */
const MOST_SESSIONS = 50;
/** Maximum sessions that one transaction ends. More are rare, and the others are invalid by then, and expire. */
const MOST_ENDED = 1_000;
/** The session's id for clients. The cookie's id cannot be computed from it. */
const PUBLIC_ID = `encode(sha256(convert_to(sid, 'UTF8')), 'hex')`;

export function publicIdOf(sid: string): string {
  return createHash('sha256').update(sid).digest('hex');
}

/** A session to insert once its owner is authenticated. */
export interface NewSession {
  sid: string;
  userId: string;
  data: SessionData;
  expires: Date;
  /** Id of a session of the same client that this one has ended. */
  replacedSid?: string | undefined;
}

export interface SessionRow {
  id: string;
  createdAt: number;
  renewedAt: number;
  ip: string;
  userAgent: string;
  isCurrent: boolean;
  /** Whether it began by a verification token. */
  byToken: boolean;
}

/** Makes a new password wait. */
const LOCK_OWNER = `
  SELECT id FROM users
   WHERE id = :userId AND credentials_version = :credentialsVersion AND suspended_at IS NULL AND closed_at IS NULL
     FOR SHARE`;

/** Notes that the account is in use, so that its number is not handed on. To a day: most logins write nothing here. */
const WAKE = `UPDATE phones SET awake_at = now() WHERE user_id = :userId AND awake_at < now() - interval '1 day'`;

/** With `owner`, an empty or a single row. */
const insertSession = (owner: string) => `
  WITH owner AS (${owner}),
  noted AS (
    INSERT INTO security_events (event, user_id, ip, user_agent, request_id, detail)
    SELECT 'logged_in', id, :ip, :userAgent, :requestId, :detail FROM owner),
  woken AS (${WAKE} AND EXISTS (SELECT FROM owner)),
  ended AS (
    DELETE FROM session WHERE sid IN (
      SELECT sid FROM session WHERE ${OWNER} = :userId AND EXISTS (SELECT FROM owner)
       ORDER BY (sess ->> 'createdAt')::bigint DESC OFFSET ${MOST_SESSIONS - 1}))
  INSERT INTO session (sid, sess, expire) SELECT :sid, :data::json, :expires FROM owner RETURNING sid`;

type NewRow = 'sid' | 'userId' | 'data' | 'expires' | 'ip' | 'userAgent' | 'requestId' | 'detail';

const startSession = statement<{ sid: string }, NewRow | 'credentialsVersion'>(
  'start-session',
  insertSession(LOCK_OWNER),
  { distributed: startInSteps },
);

const lockOwner = statement<{ id: string }, 'userId' | 'credentialsVersion'>('lock-owner-of-session', LOCK_OWNER);
const addSession = statement<{ sid: string }, NewRow>('add-session', insertSession('SELECT :userId::text AS id'));

function startInSteps(db: Knex, session: Record<NewRow | 'credentialsVersion', unknown>): Promise<{ sid: string }[]> {
  return db.transaction(async (trx) => {
    await holdInPlace(trx, { key: session.userId });
    if ((await lockOwner(trx, session)).length === 0) return [];
    await addsToUser(trx, session);
    return addSession(trx, session);
  });
}

/** Keeps the credentials version, which each session has, and a change of the password may have raised since. */
const renewSession = statement<unknown, 'sid' | 'data' | 'expires'>(
  'renew-session',
  `UPDATE session SET expire = :expires,
          sess = jsonb_set(:data::jsonb, '{credentialsVersion}', (sess -> 'credentialsVersion')::jsonb)::json
    WHERE sid = :sid`,
);

const wake = statement<unknown, 'userId'>('wake-account', WAKE);

const keepSession = statement<{ sid: string }, 'sid' | 'credentialsVersion'>(
  'keep-session',
  `UPDATE session
      SET sess = (sess::jsonb || jsonb_build_object('credentialsVersion', :credentialsVersion::integer))::json
    WHERE sid = :sid RETURNING sid`,
);

const credentialsOf = statement<{ version: number }, 'userId'>(
  'credentials-of-user',
  'SELECT credentials_version AS version FROM users WHERE id = :userId',
);

const BY_TOKEN = `coalesce((sess ->> 'byToken')::boolean, false)`;
/** Hides where the password was used from sessions that began without it: the number may have another owner by now. */
const shownPlace = (field: string) =>
  `CASE WHEN own.by_token AND NOT ${BY_TOKEN} THEN '' ELSE coalesce(sess ->> '${field}', '') END`;

const sessionsOfUser = statement<SessionRow, 'userId' | 'version' | 'currentSid' | 'maxDays'>(
  'sessions-of-user',
  `SELECT ${PUBLIC_ID} AS id, (sess ->> 'createdAt')::bigint AS "createdAt",
          (sess ->> 'renewedAt')::bigint AS "renewedAt", ${shownPlace('ip')} AS ip,
          ${shownPlace('userAgent')} AS "userAgent", sid = :currentSid AS "isCurrent", ${BY_TOKEN} AS "byToken"
     FROM session, (SELECT coalesce(bool_or(${BY_TOKEN}), :currentSid <> '') AS by_token
                      FROM session WHERE sid = :currentSid) own
    WHERE ${OWNER} = :userId AND expire > now() AND (sess ->> 'credentialsVersion')::integer = :version::integer
      AND (sess ->> 'createdAt')::bigint > extract(epoch FROM now() - make_interval(days => :maxDays)) * 1000
    ORDER BY 2 DESC, 1`,
);

/** The sessions of users. express-session and connect-pg-simple know only single sessions. */
export class SessionsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Inserts a session and its event of the audit trail, with this detail. Returns false if the password has changed since
   * `credentialsVersion` was read, or the account was suspended. FOR SHARE waits for a pending change. A later change
   * waits for this statement, and its DELETE then sees this row: no session survives a reset or a suspension.
   */
  async start(session: NewSession, credentialsVersion: number, caller: Caller, detail?: string): Promise<boolean> {
    const { sid, userId, data, expires } = session;
    const { ip, userAgent, requestId } = caller;
    const origin = { ip, userAgent, requestId, detail: detail ?? null };
    const values = { sid, userId, data: JSON.stringify(data), expires, ...origin };
    return (await startSession(this.db, { ...values, credentialsVersion })).length > 0;
  }

  async live(sid: string): Promise<SessionData | null> {
    return ((await liveSession(this.db, sid)) as SessionData | undefined) ?? null;
  }

  /** Renews a session by an UPDATE, so that a session that has ended in the meantime stays ended. */
  async renew(sid: string, data: SessionData): Promise<void> {
    await wake(this.db, { userId: data.userId });
    await renewSession(this.db, { sid, data: JSON.stringify(data), expires: data.cookie.expires });
  }

  /** Returns the user's sessions, newest first, as one of them may see them, or an operator, who has none. */
  async list(userId: string, currentSid: string, maxDays: number): Promise<SessionRow[]> {
    const [owner] = await credentialsOf(this.db, { userId });
    return owner ? sessionsOfUser(this.db, { userId, version: owner.version, currentSid, maxDays }) : [];
  }

  async has(userId: string, id: string): Promise<boolean> {
    const found: unknown = await this.ownById(userId, id).first('sid');
    return found !== undefined;
  }

  /** Ends a session, but only of this user. */
  async end(userId: string, id: string): Promise<number> {
    return this.ownById(userId, id).delete();
  }

  async endBySid(sid: string): Promise<number> {
    return this.db('session').where({ sid }).delete();
  }

  /** Ends all sessions, once the credentials version has been raised. Returns their number. */
  async endAll(userId: string): Promise<number> {
    await findsAllOfUser(this.db, { userId });
    const ended = this.db('session').whereRaw(`${OWNER} = ?`, [userId]).limit(MOST_ENDED).select('sid');
    return this.db('session').whereIn('sid', ended).delete();
  }

  /** Like `endAll`, but one session goes on under the new version. */
  async endOthers(userId: string, sid: string, credentialsVersion: number): Promise<number> {
    await findsAllOfUser(this.db, { userId });
    await keepSession(this.db, { sid, credentialsVersion });
    const others = this.db('session').whereRaw(`${OWNER} = ?`, [userId]).whereNot({ sid });
    return this.db('session').whereIn('sid', others.limit(MOST_ENDED).select('sid')).delete();
  }

  private ownById(userId: string, id: string): Knex.QueryBuilder {
    return this.db('session').whereRaw(`${OWNER} = ? AND ${PUBLIC_ID} = ?`, [userId, id]);
  }
}
