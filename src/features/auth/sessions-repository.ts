import type { Knex } from 'knex';
import type { NewSession } from '../../http/session';

const OWNER = `sess ->> 'userId'`;

/** What express-session and connect-pg-simple don't do: sessions as something that belongs to a user. */
export class SessionsRepository {
  constructor(private readonly db: Knex) {}

  /**
   * Puts a session there, unless the password has been changed since `credentialsVersion` was read. FOR SHARE waits for a
   * change that is under way, and makes a later one wait, whose DELETE then sees this row: no session survives a reset.
   */
  async start({ sid, userId, data, expires }: NewSession, credentialsVersion: number): Promise<boolean> {
    const { rowCount } = await this.db.raw<{ rowCount: number }>(
      `WITH owner AS (
         SELECT id FROM users WHERE id = ? AND credentials_version = ? AND closed_at IS NULL FOR SHARE)
       INSERT INTO session (sid, sess, expire) SELECT ?, ?::json, ? FROM owner`,
      [userId, credentialsVersion, sid, JSON.stringify(data), expires],
    );
    return rowCount > 0;
  }

  async endAll(userId: string): Promise<void> {
    await this.db('session').whereRaw(`${OWNER} = ?`, [userId]).delete();
  }

  async endOthers(userId: string, sid: string): Promise<void> {
    await this.db('session').whereRaw(`${OWNER} = ?`, [userId]).whereNot({ sid }).delete();
  }
}
