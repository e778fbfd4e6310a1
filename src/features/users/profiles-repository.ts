import type { Knex } from 'knex';
import type { Read, Reads } from '../../database/reads';
import { phoneOwner } from './phone-owner';
import type { Profile } from './users-repository';

/** What users see of each other, read more often than anything else. */
export class ProfilesRepository {
  private readonly profile: Read<Profile, 'id'>;
  private readonly owner: ReturnType<typeof phoneOwner>;

  constructor(reads: Reads, db: Knex) {
    this.profile = reads.prepare(
      'profile',
      db('users').where({ id: ':id' }).whereNull('closed_at').select('id', 'nickname', 'portrait_uri as portraitUri'),
    );
    this.owner = phoneOwner(reads, db);
  }

  async byId(id: string): Promise<Profile | undefined> {
    const [profile] = await this.profile({ id });
    return profile;
  }

  async byPhone(phone: string): Promise<Profile | undefined> {
    const [owner] = await this.owner({ phone });
    return owner && this.byId(owner.userId);
  }
}
