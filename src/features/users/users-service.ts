import { NotFound } from '../../errors';
import type { Caller } from '../audit/caller';
import type { Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Phone } from './phone-number';
import type { ProfilesRepository } from './profiles-repository';
import type { Profile } from './users-repository';

/** Looking other users up. */
export class UsersService {
  constructor(
    private readonly profiles: ProfilesRepository,
    private readonly limiter: Limiter,
    private readonly limits: Pick<Limits, 'findsPerMinute' | 'findsPerDay'>,
  ) {}

  async byId(id: string): Promise<Profile> {
    return found(await this.profiles.byId(id));
  }

  async byPhone(phone: Phone, askerId: string, caller: Caller): Promise<Profile> {
    await this.limiter.take(
      caller,
      { limit: this.limits.findsPerMinute, subject: askerId },
      { limit: this.limits.findsPerDay, subject: askerId },
    );
    return found(await this.profiles.byPhone(phone.number));
  }
}

function found(profile: Profile | undefined): Profile {
  if (!profile) throw new NotFound('no such user');
  return profile;
}
