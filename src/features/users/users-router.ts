import { operation, type Operation } from '../../http/operation';
import { profile } from './profile';
import { byId, byPhone } from './users-schemas';
import type { UsersService } from './users-service';

const noSuchUser = 'no such user, or a closed account';

export function usersRouter(users: UsersService): Operation[] {
  return [
    operation({
      path: '/find/:region/:phone',
      summary: 'The user with this phone.',
      access: 'user',
      params: byPhone,
      result: profile,
      refusals: { 404: noSuchUser, 429: 'too many look-ups by this user' },
      handle: (phone, { userId, caller }) => users.byPhone(phone, userId, caller),
    }),
    operation({
      path: '/:id',
      summary: 'The user with this id.',
      access: 'user',
      params: byId,
      result: profile,
      refusals: { 404: noSuchUser },
      handle: ({ id }) => users.byId(id),
    }),
  ];
}
