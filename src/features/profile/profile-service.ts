import type { Logger } from 'pino';
import { NotSignedIn } from '../../base/errors';
import type { ImageStorage } from '../../integrations/storage/image-storage';
import type { ImagesRepository, UploadedImage } from '../images/images-repository';
import type { Profile } from '../users/profile';
import type { UsersRepository } from '../users/users-repository';
import { checkPortraitHost, type PortraitRules } from './portrait-host';

export interface ProfileDeps {
  users: UsersRepository;
  images: ImagesRepository;
  storage: ImageStorage;
  logger: Pick<Logger, 'warn'>;
}

export class ProfileService {
  constructor(
    private readonly deps: ProfileDeps,
    private readonly portraits: PortraitRules,
  ) {}

  /** Changes the profile. The change stands even if the previous portrait cannot be removed. */
  async change(userId: string, changes: Partial<Omit<Profile, 'id'>>): Promise<void> {
    checkPortraitHost(this.portraits, changes.portraitUri);
    const { users, storage } = this.deps;
    const profile = await users.updateProfile(userId, changes);
    if (!profile) throw new NotSignedIn();
    if (changes.portraitUri === undefined) return;
    try {
      await storage.portraitSet(userId, profile.portraitUri);
    } catch (error) {
      this.deps.logger.warn({ err: error }, 'the previous portrait was not removed; it will be within a day');
    }
  }

  /** Returns the images that the user has uploaded, if this service stores them. */
  async images(userId: string): Promise<UploadedImage[]> {
    return this.deps.images.ofUser(userId);
  }

  /** Removes images, also where they are shown: as if another portrait had replaced each of them. */
  async removeImages(userId: string, names: string[]): Promise<void> {
    const { images, users, storage } = this.deps;
    if (await images.markReplaced(userId, names)) return this.change(userId, { portraitUri: '' });
    const profile = await users.profile(userId);
    await storage.portraitSet(userId, profile?.portraitUri ?? '');
  }
}
