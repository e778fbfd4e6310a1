import type { Knex } from 'knex';
import type { Phone } from './phone-number';

export interface Profile {
  id: string;
  nickname: string;
  portraitUri: string;
}

/** Open accounts and their phones; a closed account is as good as none. */
export class UsersRepository {
  constructor(private readonly db: Knex) {}

  async phonesOf(id: string): Promise<string[]> {
    const rows = await this.db('phones').where({ user_id: id }).select<{ phone: string }[]>('phone');
    return rows.map(({ phone }) => phone);
  }

  async isPhoneTaken(phone: string): Promise<boolean> {
    return (await this.idByPhone(phone)) !== undefined;
  }

  /** False when the phone belongs to an account already, however many try at once. */
  async claimPhone(phone: Phone, userId: string): Promise<boolean> {
    const claimed = await this.db('phones')
      .insert({ phone: phone.number, region: phone.region, user_id: userId })
      .onConflict('phone')
      .ignore()
      .returning('phone');
    return claimed.length > 0;
  }

  async create(user: { id: string; nickname: string; passwordHash: string }): Promise<void> {
    await this.db('users').insert({ id: user.id, nickname: user.nickname, password_hash: user.passwordHash });
  }

  async setNickname(id: string, nickname: string): Promise<Profile | undefined> {
    return this.setProfile(id, { nickname });
  }

  async setPortraitUri(id: string, portraitUri: string): Promise<Profile | undefined> {
    return this.setProfile(id, { portrait_uri: portraitUri });
  }

  /** False when the password has been changed since `credentialsVersion` was read. */
  async changePassword(id: string, credentialsVersion: number, passwordHash: string): Promise<boolean> {
    const changed = await this.open()
      .where({ id, credentials_version: credentialsVersion })
      .update({ password_hash: passwordHash, credentials_version: credentialsVersion + 1 });
    return changed > 0;
  }

  async resetPassword(id: string, passwordHash: string): Promise<void> {
    await this.open()
      .where({ id })
      .update({ password_hash: passwordHash, credentials_version: this.db.raw('credentials_version + 1') });
  }

  /** The same password at another cost: its sessions stay. */
  async rehash(id: string, credentialsVersion: number, passwordHash: string): Promise<void> {
    await this.open().where({ id, credentials_version: credentialsVersion }).update({ password_hash: passwordHash });
  }

  private async idByPhone(phone: string): Promise<string | undefined> {
    const row = await this.db('phones').where({ phone }).first<{ user_id: string } | undefined>('user_id');
    return row?.user_id;
  }

  private async setProfile(id: string, columns: object): Promise<Profile | undefined> {
    const rows: Profile[] = await this.open()
      .where({ id })
      .update(columns, ['id', 'nickname', 'portrait_uri as portraitUri']);
    return rows[0];
  }

  private open(): Knex.QueryBuilder {
    return this.db('users').whereNull('closed_at');
  }
}
