import type { Foundation } from '../../foundation/foundation';
import type { ImageStorage } from '../../integrations/storage/image-storage';
import type { ImagesRepository } from '../images/images-repository';
import type { UsersRepository } from '../users/users-repository';
import type { PortraitRules } from './portrait-host';
import { ProfileService } from './profile-service';

type Needs = Foundation<{ images: ImagesRepository; users: UsersRepository }> & { storage: ImageStorage };

export function buildProfile({ repos, storage, logger }: Needs, portraits: PortraitRules) {
  return { profile: new ProfileService({ ...repos, storage, logger }, portraits) };
}
