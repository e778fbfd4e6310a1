import { retrying } from '../../database/retrying';
import { BadRequest } from '../../errors';
import type { BlacklistEntry, BlacklistRepository } from './blacklist-repository';

export class BlacklistService {
  constructor(private readonly blacklist: BlacklistRepository) {}

  async list(ownerId: string): Promise<BlacklistEntry[]> {
    return this.blacklist.list(ownerId);
  }

  /** Idempotent: a client that lost our answer may safely ask again. */
  async add(ownerId: string, friendId: string): Promise<void> {
    if (friendId === ownerId) throw new BadRequest('friendId: you cannot blacklist yourself');
    const known = await retrying(() => this.blacklist.add(ownerId, friendId));
    if (!known) throw new BadRequest('friendId: no such user');
  }

  async remove(ownerId: string, friendId: string): Promise<void> {
    await retrying(() => this.blacklist.remove(ownerId, friendId));
  }
}
