import type { Knex } from 'knex';
import type { Read, Reads } from '../../database/reads';
import { phoneOwner } from './phone-owner';
import type { Profile } from './users-repository';

/** What a login needs to know. */
export interface Account extends Profile {
  passwordHash: string;
  credentialsVersion: number;
}

/** Open accounts, to be logged in to. */
export class AccountsRepository {
  private readonly account: Read<Account, 'id'>;
  private readonly owner: ReturnType<typeof phoneOwner>;

  constructor(reads: Reads, db: Knex) {
    const columns = { id: 'id', nickname: 'nickname', portraitUri: 'portrait_uri' };
    const credentials = { passwordHash: 'password_hash', credentialsVersion: 'credentials_version' };
    this.account = reads.prepare(
      'account',
      db('users')
        .where({ id: ':id' })
        .whereNull('closed_at')
        .select({ ...columns, ...credentials }),
    );
    this.owner = phoneOwner(reads, db);
  }

  async byId(id: string): Promise<Account | undefined> {
    const [account] = await this.account({ id });
    return account;
  }

  async byPhone(phone: string): Promise<Account | undefined> {
    const [owner] = await this.owner({ phone });
    // Nobody's account is looked for as well: login must not tell by its time which phones have one.
    return this.byId(owner?.userId ?? '');
  }
}
