import type { Knex } from 'knex';
import { holdInPlace } from '../../database/hold-in-place';
import { statement } from '../../database/statement';
import type { Asker } from '../../integrations/messaging/messaging-provider';
import { enterChanges } from '../messaging/messaging-changes-repository';
import { EventsRepository } from '../events/events-repository';
import { liveSession } from '../sessions/live-session';
import type { FoundToken, KeptToken, KeptTokens } from '../../integrations/messaging/rongcloud/provider';

interface Found extends Partial<KeptToken> {
  round: number;
  credentialsVersion: number;
}

const tokenOf = statement<Found, 'userId' | 'app'>(
  'messaging-token',
  `SELECT messaging_round AS round, credentials_version AS "credentialsVersion", token, messaging_tokens.nickname,
          messaging_tokens.portrait_uri AS "portraitUri"
     FROM users LEFT JOIN messaging_tokens ON user_id = users.id AND app = :app
    WHERE users.id = :userId AND closed_at IS NULL AND suspended_at IS NULL`,
);

/** FOR SHARE waits for a pending end. A later end waits for this statement, and then deletes this row. */
const keepToken = statement<{ token: string }, 'userId' | 'app' | 'round' | 'token' | 'nickname' | 'portraitUri'>(
  'keep-messaging-token',
  `WITH owner AS (
     SELECT id FROM users
      WHERE id = :userId AND messaging_round = :round AND suspended_at IS NULL AND closed_at IS NULL FOR SHARE)
   INSERT INTO messaging_tokens (user_id, app, token, nickname, portrait_uri)
   SELECT id, :app, :token, :nickname, :portraitUri FROM owner
   ON CONFLICT (user_id, app) DO NOTHING RETURNING token`,
);

/** Tokens of a messaging provider, with the name and portrait it knows. */
export class MessagingTokensRepository implements KeptTokens {
  constructor(private readonly db: Knex) {}

  async find(userId: string, app: string, asker: Asker): Promise<FoundToken | undefined> {
    const [row] = await tokenOf(this.db, { userId, app });
    if (!row || !(await this.isStill(row, asker))) return undefined;
    return { round: row.round, kept: keptIn(row) };
  }

  /** Asked once the round is known: a session that has ended since must not get a token of the next round. */
  private async isStill({ credentialsVersion }: Found, asker: Asker): Promise<boolean> {
    if ('sid' in asker) return (await liveSession(this.db, asker.sid)) !== undefined;
    return asker.credentialsVersion === credentialsVersion;
  }

  async get(userId: string, app: string): Promise<KeptToken | undefined> {
    return this.db('messaging_tokens')
      .where({ user_id: userId, app })
      .first<KeptToken | undefined>({ token: 'token', nickname: 'nickname', portraitUri: 'portrait_uri' });
  }

  async add(userId: string, app: string, round: number, kept: KeptToken): Promise<boolean> {
    const isKept = (await keepToken(this.db, { userId, app, round, ...kept })).length > 0;
    // A later change finds the token, and is told by its event.
    const sent = { nickname: kept.nickname, portrait_uri: kept.portraitUri };
    const isNewest = await this.db('users')
      .where({ id: userId, ...sent })
      .first<object | undefined>('id');
    if (!isNewest) await this.noteProfile(userId);
    return isKept;
  }

  async refresh(userId: string, app: string, { token, nickname, portraitUri }: KeptToken): Promise<void> {
    await this.db('messaging_tokens')
      .where({ user_id: userId, app, token })
      .update({ nickname, portrait_uri: portraitUri });
  }

  async noteProfile(userId: string): Promise<void> {
    await enterChanges(this.db, { kind: 'user.updated', subjects: [userId] });
  }

  /** Keeps tokens of the user from being stored, and sessions from beginning, until the transaction ends. */
  async lock(userId: string): Promise<void> {
    await holdInPlace(this.db, { key: userId });
    await this.db('users').where({ id: userId }).forNoKeyUpdate().select('id');
  }

  /** Invalidates all pending tokens, as a new password does. */
  async beginRound(userId: string): Promise<void> {
    await this.db('users').where({ id: userId }).increment('messaging_round');
  }

  /** Ends tokens after a new round began, so that none is stored in between. Tells of it, if one was given out. */
  async end(userId: string): Promise<void> {
    const dropped = await this.db('messaging_tokens').where({ user_id: userId }).delete();
    if (dropped > 0) await new EventsRepository(this.db).tell('tokens.ended', userId);
  }
}

function keptIn({ token, nickname, portraitUri }: Found): KeptToken | undefined {
  // An outer join gives null for missing rows.
  return token && nickname != null && portraitUri != null ? { token, nickname, portraitUri } : undefined;
}
