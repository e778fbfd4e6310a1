import { BadRequest } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import type { BlacklistRepository } from './blacklist-repository';
import type { BlacklistEntry } from './blacklist-schemas';
import type { UsersRepository } from '../users/users-repository';

export interface BlacklistRepositories {
  blacklist: BlacklistRepository;
  users: UsersRepository;
}

export class BlacklistService {
  constructor(
    private readonly blacklist: BlacklistRepository,
    private readonly transaction: Transaction<BlacklistRepositories>,
    /** Maximum entries; 0: no limit. */
    private readonly mostEntries: number,
  ) {}

  async list(userId: string): Promise<BlacklistEntry[]> {
    return this.blacklist.list(userId);
  }

  /** Adds an entry. Idempotent: a client that did not get the answer may retry. */
  async add(userId: string, friendId: string): Promise<void> {
    if (friendId === userId) throw new BadRequest('not_yourself', 'friendId: you cannot blacklist yourself');
    await this.transaction(async ({ blacklist, users }) => {
      await blacklist.lock(userId);
      if (!(await users.profile(friendId))) throw new BadRequest('unknown_user', 'friendId: no such user');
      if (!(await blacklist.add(userId, friendId, this.mostEntries)))
        throw new BadRequest('blacklist_full', `your blacklist is full: it takes ${this.mostEntries} users`);
    });
  }

  async remove(userId: string, friendId: string): Promise<void> {
    await this.blacklist.remove(userId, friendId);
  }
}
