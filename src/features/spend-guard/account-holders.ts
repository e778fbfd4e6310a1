import type { Caller } from '../../caller';
import { TooManyRequests } from '../../errors';
import { checksBy, type Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Phone } from '../phones/phone-number';
import type { UsersRepository } from '../users/users-repository';

interface Parts {
  users: UsersRepository;
  limiter: Limiter;
  limits: Pick<Limits, 'checksPerMinute' | 'checksPerDay'>;
}

/** Phones with an account: they are still sent codes where others are not. */
export class AccountHolders {
  constructor(private readonly parts: Parts) {}

  /** The answer shows, as that of check_phone_available does; so the same limits apply. Beyond them: no. */
  async has(phone: Phone, caller: Caller): Promise<boolean> {
    const { users, limiter, limits } = this.parts;
    try {
      await limiter.take(caller, ...checksBy(caller, limits));
    } catch (error) {
      if (error instanceof TooManyRequests) return false;
      throw error;
    }
    return users.isPhoneTaken(phone.number);
  }
}
