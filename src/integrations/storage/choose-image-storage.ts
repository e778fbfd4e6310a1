import type { Router } from 'express';
import type { PublicUrlOf } from '../../http/public-url';
import { derivedKey } from '../../secrets';
import type { ImageBook } from './image-book';
import type { ImageStorage } from './image-storage';
import type { LocalStorageOptions } from './local-image-storage';
import type { QiniuOptions } from './qiniu-image-storage';

export type StorageSettings =
  | ({ provider: 'local' } & Omit<LocalStorageOptions, 'secrets'>)
  | ({ provider: 'qiniu'; uploadUrl: string } & QiniuOptions);

/** The storage, and a router for the address that clients upload to. */
export async function chooseImageStorage(
  settings: StorageSettings,
  sessionSecrets: string[],
  book: ImageBook,
  publicUrlOf: PublicUrlOf,
): Promise<{ storage: ImageStorage; uploads: Router }> {
  if (settings.provider === 'qiniu') {
    const { QiniuImageStorage } = await import('./qiniu-image-storage');
    const { qiniuUploadRouter } = await import('./qiniu-upload-router');
    return { storage: new QiniuImageStorage(settings), uploads: qiniuUploadRouter(settings.uploadUrl) };
  }
  const { LocalImageStorage } = await import('./local-image-storage');
  const { localImageRouter } = await import('./local-image-router');
  const storage = new LocalImageStorage({ ...settings, secrets: sessionSecrets.map(uploadSecret) }, book);
  return { storage, uploads: localImageRouter(storage, { publicUrlOf }) };
}

/** Upload tokens are signed by a key of their own, which is made from the first secret, and verified by those of all. */
function uploadSecret(secret: string): string {
  return derivedKey(secret, 'upload tokens').toString('hex');
}
