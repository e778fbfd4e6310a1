import type { Knex } from 'knex';
import type { Read, Reads } from '../../reads';
import type { Profile } from './users-repository';

/** What users see of each other, read more often than anything else. */
export class ProfilesRepository {
  private readonly profile: Read<Profile, 'id'>;
  private readonly owner: Read<{ userId: string }, 'phone'>;

  constructor(reads: Reads, db: Knex) {
    this.profile = reads.prepare(
      'profile',
      db('users').where({ id: ':id' }).whereNull('closed_at').select('id', 'nickname', 'portrait_uri as portraitUri'),
    );
    this.owner = reads.prepare('owner', db('phones').where({ phone: ':phone' }).select('user_id as userId'));
  }

  async byId(id: string): Promise<Profile | undefined> {
    const [profile] = await this.profile({ id });
    return profile;
  }

  /** Two statements, so that phones and users may one day live on different nodes. */
  async byPhone(phone: string): Promise<Profile | undefined> {
    const [owner] = await this.owner({ phone });
    return owner && this.byId(owner.userId);
  }
}
