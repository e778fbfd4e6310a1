import type { Knex } from 'knex';
import type { KeptToken, KeptTokens } from '../../integrations/messaging/rongcloud-messaging-provider';

/** Tokens of a messaging provider, each with the profile that the provider knows. */
export class MessagingTokensRepository implements KeptTokens {
  constructor(private readonly db: Knex) {}

  async get(userId: string, app: string): Promise<KeptToken | undefined> {
    return this.db('messaging_tokens')
      .where({ user_id: userId, app })
      .first<KeptToken | undefined>({ token: 'token', nickname: 'nickname', portraitUri: 'portrait_uri' });
  }

  async drop(userId: string): Promise<void> {
    await this.db('messaging_tokens').where({ user_id: userId }).delete();
  }

  async put(userId: string, app: string, { token, nickname, portraitUri }: KeptToken): Promise<void> {
    await this.db('messaging_tokens')
      .insert({ user_id: userId, app, token, nickname, portrait_uri: portraitUri })
      .onConflict(['user_id', 'app'])
      .merge();
  }
}
