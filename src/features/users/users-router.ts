import { operation, type Operation } from '../../http/operation';
import { phoneInPath } from '../phones/phone-fields';
import { profile } from './profile';
import { byId, byIds, profiles } from './users-schemas';
import type { UsersService } from './users-service';

export function usersRouter(users: UsersService): Operation[] {
  return [
    operation({
      path: '/user/find/:region/:phone',
      summary: 'The user with this phone.',
      access: 'reader',
      params: phoneInPath,
      result: profile,
      limits: ['findsPerMinute', 'findsPerDay'],
      refusals: ['no_such_user'],
      handle: (phone, reader) => users.byPhone(phone, reader),
    }),
    operation({
      path: '/user/batch',
      summary: 'The users with these ids, in their order, without those who have no open account.',
      access: 'reader',
      body: byIds,
      result: profiles,
      handle: ({ ids }, { reads }) => users.byIds(ids, reads),
    }),
    operation({
      path: '/user/:id',
      summary: 'The user with this id.',
      access: 'reader',
      params: byId,
      result: profile,
      refusals: ['no_such_user'],
      handle: ({ id }, { reads }) => users.byId(id, reads),
    }),
  ];
}
