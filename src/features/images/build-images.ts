import { Tally } from '../../base/tally';
import type { Foundation } from '../../foundation/foundation';
import { tallied } from '../../foundation/part';
import { chooseImageStorage, type StorageSettings } from '../../integrations/storage/choose-image-storage';
import type { Limiter } from '../limits/limiter';
import type { UsersRepository } from '../users/users-repository';
import { ImageAccounts } from './image-accounts';
import type { ImagesRepository } from './images-repository';

type Needs = Foundation<{ images: ImagesRepository; users: UsersRepository }> & { limiter: Limiter };

/** Pause between removals of due images. */
const REMOVE_UNUSED_MS = 1_000;

const UPLOADS = {
  name: 'uploads_total',
  help: 'Images that were stored, and uploads that were refused.',
  labels: ['result'],
};

export async function buildImages(needs: Needs, settings: StorageSettings) {
  const { repos, queues, transaction, publicUrlOf, sessionSecrets, limiter } = needs;
  const images = new ImageAccounts({ ...repos, transaction, limiter });
  const counts = new Tally();
  const deps = { images, queues, publicUrlOf, counts };
  const { storage, uploads } = await chooseImageStorage(settings, sessionSecrets, deps);
  return {
    storage,
    uploads,
    /** For a process that only stores images: other instances tell by rows which are due. */
    removing: { name: 'unused', everyMs: REMOVE_UNUSED_MS, run: () => storage.removeUnused() },
    part: {
      sweeps: [{ name: 'images', run: () => storage.sweep() }],
      figures: [tallied(UPLOADS, counts)],
      resources: [storage],
    },
  };
}
