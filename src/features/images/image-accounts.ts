import {
  Refusal,
  type ImageBook,
  type ImageEntry,
  type ImageName,
  type Uploader,
} from '../../../packages/image-server/src';
import type { Caller } from '../../base/caller';
import { TooManyRequests } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import type { OwnImages } from '../../integrations/storage/local/images';
import type { LimitName } from '../../load/limits';
import type { Limiter } from '../limits/limiter';
import type { UsersRepository } from '../users/users-repository';
import type { ImagesRepository } from './images-repository';

const RETRY_SECONDS = 3_600;

interface Deps {
  images: ImagesRepository;
  users: UsersRepository;
  transaction: Transaction<{ images: ImagesRepository }>;
  limiter: Limiter;
}

/** The accounts' side of images: what an account may upload, and which of its images are still shown. */
export class ImageAccounts implements ImageBook, OwnImages {
  constructor(private readonly deps: Deps) {}

  admit(uploader: Uploader, caller: Caller): Promise<void> {
    return this.count('uploadsPerHour', uploader, caller);
  }

  admitPart(uploader: Uploader, caller: Caller): Promise<void> {
    return this.count('uploadPartsPerHour', uploader, caller);
  }

  async charge({ userId }: Uploader, uploads: number, caller: Caller): Promise<void> {
    const use = { limit: 'uploadsPerHour', subject: userId } as const;
    try {
      for (let count = 0; count < uploads; count += 1) await this.deps.limiter.take(caller, use);
    } catch (error) {
      if (!(error instanceof TooManyRequests)) throw error;
    }
  }

  async enter(image: ImageEntry, uploader: Uploader, mostBytes: number): Promise<'new' | 'known'> {
    return this.deps.transaction(async ({ images }) => {
      if (!(await images.lockUploader(uploader.userId, uploader.credentialsVersion))) throw ended();
      if (await images.renew(image)) return 'known';
      if ((await images.hashOf(image)) !== undefined)
        throw new Refusal('key_taken', 'key: already holds another image, choose a new name');
      if (mostBytes > 0 && (await images.bytesOf(image.userId)) + image.bytes > mostBytes) throw tooMuch(mostBytes);
      await images.enter([image]);
      return 'new';
    });
  }

  async has(image: ImageName): Promise<boolean> {
    return (await this.deps.images.hashOf(image)) !== undefined;
  }

  async remove(image: ImageName): Promise<void> {
    await this.deps.images.remove(image);
  }

  async adopt(images: ImageEntry[]): Promise<void> {
    await this.deps.images.enter(images);
  }

  async hurryReplaced(userId: string, portraitUri: string): Promise<void> {
    await this.deps.images.markPortrait(userId, portraitUri);
    await this.deps.images.hurryReplaced(userId);
  }

  async hurryAll(userId: string): Promise<void> {
    await this.deps.images.hurryAll(userId);
  }

  async removeUnused(userId?: string): Promise<{ checked: number; removed: ImageName[] }> {
    const images = await this.deps.images.removeUnused(userId);
    return { checked: images.length, removed: images.filter(({ shown }) => !shown) };
  }

  private async count(limit: LimitName, { userId, credentialsVersion }: Uploader, caller: Caller): Promise<void> {
    const account = await this.deps.users.account(userId);
    if (account?.credentialsVersion !== credentialsVersion) throw ended();
    if (account.isSuspended) throw ended();
    await this.deps.limiter.take(caller, { limit, subject: userId });
  }
}

function ended(): Refusal {
  return new Refusal(
    'upload_token_refused',
    'token: its account is closed or suspended, or has a new password; ask for another one',
  );
}

function tooMuch(mostBytes: number): TooManyRequests {
  const message = `your images would take more than ${mostBytes} bytes; images that are not portraits are removed after a day`;
  return new TooManyRequests('image_space_full', message, { retryAfterSeconds: RETRY_SECONDS });
}
