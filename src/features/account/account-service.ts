import { retrying } from '../../database/transaction';
import { NotSignedIn } from '../../errors';
import type { UsersRepository } from '../users/users-repository';

interface Parts {
  users: UsersRepository;
}

/** What an owner decides about the account as a whole. */
export class AccountService {
  constructor(private readonly parts: Parts) {}

  async setFindable(userId: string, isFindable: boolean): Promise<void> {
    if (!(await retrying(() => this.parts.users.setFindable(userId, isFindable)))) throw new NotSignedIn();
  }
}
