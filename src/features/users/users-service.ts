import { NotFound } from '../../base/errors';
import type { Reader } from '../../database/owner-reads';
import type { Runner } from '../../database/statement';
import type { Phone } from '../phones/phone-number';
import type { Profile } from './profile';
import type { UsersRepository } from './users-repository';

/** Looks up other users. */
export class UsersService {
  constructor(private readonly users: UsersRepository) {}

  async byId(id: string, reads: Runner): Promise<Profile> {
    return found(await this.users.profile(id, reads));
  }

  /** Returns profiles in the requested order, each once. */
  async byIds(ids: string[], reads: Runner): Promise<Profile[]> {
    const profiles = new Map((await this.users.profiles(ids, reads)).map((profile) => [profile.id, profile]));
    return [...new Set(ids)].flatMap((id) => profiles.get(id) ?? []);
  }

  async byPhone(phone: Phone, reader: Reader): Promise<Profile> {
    const { reads } = reader;
    const id = await this.users.idByPhone(phone.number, reads);
    return found(id === undefined ? undefined : await this.users.profileFor(reader.userId, id, reads));
  }
}

function found(profile: Profile | undefined): Profile {
  if (!profile) throw new NotFound('no_such_user', 'no such user');
  return profile;
}
