import type { Router } from 'express';
import type { ImageBook, StoreOptions } from '../../../packages/image-server/src';
import { derivedKey } from '../../base/secrets';
import type { Tally } from '../../base/tally';
import type { PublicUrlOf } from '../../http/public-url';
import type { Queues } from '../../load/queues';
import type { ImageStorage } from './image-storage';
import type { OwnImages } from './local/images';
import type { QiniuOptions } from './qiniu/image-storage';

export type StorageSettings =
  | ({ provider: 'local'; address?: string | undefined } & Omit<StoreOptions, 'secrets'>)
  | ({ provider: 'qiniu'; uploadUrl: string } & QiniuOptions);

interface Deps {
  images: ImageBook & OwnImages;
  queues: Queues;
  publicUrlOf: PublicUrlOf;
  /** Uploads that end here, by result. */
  counts: Tally;
}

/** Returns the storage, and a router for the address that clients upload to. */
export async function chooseImageStorage(
  settings: StorageSettings,
  sessionSecrets: string[],
  { images, queues, publicUrlOf, counts }: Deps,
): Promise<{ storage: ImageStorage; uploads: Router }> {
  if (settings.provider === 'qiniu') {
    const { QiniuImageStorage } = await import('./qiniu/image-storage');
    const { qiniuUploadRouter } = await import('./redirecting-router');
    return { storage: new QiniuImageStorage(settings), uploads: qiniuUploadRouter(settings.uploadUrl) };
  }
  const { LocalImages } = await import('./local/images');
  const options = { ...settings, secrets: sessionSecrets.map(uploadSecret) };
  if (settings.address !== undefined) {
    const { imageServerRouter } = await import('./redirecting-router');
    return { storage: new LocalImages(options, images), uploads: imageServerRouter(settings.address) };
  }
  const { mountImageServer } = await import('./local/mounted-image-server');
  const { server, router } = mountImageServer(options, { book: images, queues, publicUrlOf, counts });
  return { storage: new LocalImages(options, images, server), uploads: router };
}

/** Derives the key of upload tokens: the key of the first secret signs, and those of all secrets verify. */
function uploadSecret(secret: string): string {
  return derivedKey(secret, 'upload tokens').toString('hex');
}
