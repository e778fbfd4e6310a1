import { operation, type Operation } from '../../http/operation';
import { findability } from './account-schemas';
import type { AccountService } from './account-service';

export function accountRouter(account: AccountService): Operation[] {
  return [
    operation({
      path: '/user/set_findable',
      summary: 'Whether others than friends find the user by the phone.',
      access: 'user',
      body: findability,
      writes: true,
      handle: ({ findable }, { userId }) => account.setFindable(userId, findable),
    }),
  ];
}
