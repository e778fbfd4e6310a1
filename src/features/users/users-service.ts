import type { Caller } from '../../caller';
import { NotFound } from '../../errors';
import type { Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Phone } from '../phones/phone-number';
import type { Profile } from './profile';
import type { UsersRepository } from './users-repository';

/** Looks up other users. */
export class UsersService {
  constructor(
    private readonly users: UsersRepository,
    private readonly limiter: Limiter,
    private readonly limits: Pick<Limits, 'findsPerMinute' | 'findsPerDay'>,
  ) {}

  async byId(id: string): Promise<Profile> {
    return found(await this.users.profile(id));
  }

  async byPhone(phone: Phone, askerId: string, caller: Caller): Promise<Profile> {
    await this.limiter.take(
      caller,
      { limit: this.limits.findsPerMinute, subject: askerId },
      { limit: this.limits.findsPerDay, subject: askerId },
    );
    return found(await this.users.profileByPhone(phone.number));
  }
}

function found(profile: Profile | undefined): Profile {
  if (!profile) throw new NotFound('no such user');
  return profile;
}
