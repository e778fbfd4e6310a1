import { retrying } from '../../database/retrying';
import { NotSignedIn } from '../../errors';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { Profile, UsersRepository } from '../users/users-repository';

export class ProfileService {
  constructor(
    private readonly users: UsersRepository,
    private readonly messaging: MessagingProvider,
    private readonly warn: (message: string, cause: unknown) => void,
  ) {}

  async setNickname(userId: string, nickname: string): Promise<void> {
    await this.passOn(await retrying(() => this.users.setNickname(userId, nickname)));
  }

  async setPortraitUri(userId: string, portraitUri: string): Promise<void> {
    await this.passOn(await retrying(() => this.users.setPortraitUri(userId, portraitUri)));
  }

  /** The change stands whether or not the messaging provider hears of it now: the next token brings it up to date. */
  private async passOn(profile: Profile | undefined): Promise<void> {
    if (!profile) throw new NotSignedIn();
    try {
      await this.messaging.profileChanged(profile);
    } catch (error) {
      this.warn('the messaging provider did not take a changed profile; it will with the next token', error);
    }
  }
}
