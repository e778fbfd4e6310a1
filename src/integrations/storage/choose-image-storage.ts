import type { Router } from 'express';
import { derivedKey } from '../../base/secrets';
import type { PublicUrlOf } from '../../http/public-url';
import type { Queues } from '../../load/queues';
import type { ImageBook } from './image-book';
import type { ImageStorage } from './image-storage';
import type { UploadQueues } from './local-image-router';
import type { LocalStorageOptions } from './local-image-storage';
import type { QiniuOptions } from './qiniu-image-storage';

export type StorageSettings =
  | ({ provider: 'local' } & Omit<LocalStorageOptions, 'secrets'>)
  | ({ provider: 'qiniu'; uploadUrl: string } & QiniuOptions);

interface Parts {
  book: ImageBook;
  queues: UploadQueues & Pick<Queues, 'decoding'>;
  publicUrlOf: PublicUrlOf;
}

/** The storage, and a router for the address that clients upload to. */
export async function chooseImageStorage(
  settings: StorageSettings,
  sessionSecrets: string[],
  { book, queues, publicUrlOf }: Parts,
): Promise<{ storage: ImageStorage; uploads: Router }> {
  if (settings.provider === 'qiniu') {
    const { QiniuImageStorage } = await import('./qiniu-image-storage');
    const { qiniuUploadRouter } = await import('./qiniu-upload-router');
    return { storage: new QiniuImageStorage(settings), uploads: qiniuUploadRouter(settings.uploadUrl) };
  }
  const { LocalImageStorage } = await import('./local-image-storage');
  const { localImageRouter } = await import('./local-image-router');
  const { ImageRewriter } = await import('./image-rewriter');
  const secrets = sessionSecrets.map(uploadSecret);
  const storage = new LocalImageStorage({ ...settings, secrets }, book, new ImageRewriter(queues.decoding));
  return { storage, uploads: localImageRouter(storage, queues, { publicUrlOf }) };
}

/** Upload tokens are signed by a key of their own, which is made from the first secret, and verified by those of all. */
function uploadSecret(secret: string): string {
  return derivedKey(secret, 'upload tokens').toString('hex');
}
