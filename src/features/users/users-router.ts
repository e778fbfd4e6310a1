import { operation, type Operation } from '../../http/operation';
import { phoneInPath } from '../phones/phone-fields';
import { profile } from './profile';
import { byId, byIds, profiles } from './users-schemas';
import type { UsersService } from './users-service';

export function usersRouter(users: UsersService): Operation[] {
  return [
    operation({
      path: '/user/find/:region/:phone',
      summary: 'Returns the user with a phone.',
      access: 'reader',
      params: phoneInPath,
      result: profile,
      limits: ['findsPerMinute', 'findsPerDay'],
      refusals: ['no_such_user'],
      handle: (phone, reader) => users.byPhone(phone, reader),
    }),
    operation({
      path: '/user/batch',
      summary: 'Returns the users with these ids, in this order, except closed accounts.',
      access: 'reader',
      body: byIds,
      result: profiles,
      handle: ({ ids }, { reads }) => users.byIds(ids, reads),
    }),
    operation({
      path: '/user/:id',
      summary: 'Returns the user with an id.',
      access: 'reader',
      params: byId,
      result: profile,
      refusals: ['no_such_user'],
      handle: ({ id }, { reads }) => users.byId(id, reads),
    }),
  ];
}
