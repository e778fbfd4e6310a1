import { retrying } from '../../database/transaction';
import { BadRequest } from '../../errors';
import type { BlacklistEntry, BlacklistRepository } from './blacklist-repository';

export class BlacklistService {
  constructor(private readonly blacklist: BlacklistRepository) {}

  async list(userId: string): Promise<BlacklistEntry[]> {
    return this.blacklist.list(userId);
  }

  /** Idempotent: a client that lost our answer may safely ask again. */
  async add(userId: string, friendId: string): Promise<void> {
    if (friendId === userId) throw new BadRequest('friendId: you cannot blacklist yourself');
    const known = await retrying(() => this.blacklist.add(userId, friendId));
    if (!known) throw new BadRequest('friendId: no such user');
  }

  async remove(userId: string, friendId: string): Promise<void> {
    await retrying(() => this.blacklist.remove(userId, friendId));
  }
}
