import type { Logger } from 'pino';
import { retrying } from '../../database/transaction';
import { NotSignedIn } from '../../errors';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { Profile } from '../users/profile';
import type { UsersRepository } from '../users/users-repository';

export class ProfileService {
  constructor(
    private readonly users: UsersRepository,
    private readonly messaging: MessagingProvider,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** The change stands even when the messaging provider does not take it now: it is told again with the next token. */
  async change(userId: string, changes: Partial<Omit<Profile, 'id'>>): Promise<void> {
    const profile = await retrying(() => this.users.updateProfile(userId, changes));
    if (!profile) throw new NotSignedIn();
    try {
      await this.messaging.profileChanged(profile);
    } catch (error) {
      const message = 'the messaging provider did not take a changed profile; it will with the next token';
      this.logger.warn({ err: error }, message);
    }
  }
}
