import type { Foundation } from '../../foundation/foundation';
import type { UsersRepository } from './users-repository';
import { UsersService } from './users-service';

export function buildUsers({ repos }: Foundation<{ users: UsersRepository }>) {
  return { users: new UsersService(repos.users), part: { events: ['user.registered', 'user.updated'] } };
}
