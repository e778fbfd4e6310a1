import { oneOf, whole } from '../../base/formats';
import { rows, vendorSection, type Section, type Values } from '../../base/settings';
import type { StorageSettings } from '../../integrations/storage/choose-image-storage';
import { LOCAL } from '../../integrations/storage/local/settings';
import { QINIU } from '../../integrations/storage/qiniu/settings';
import { hosts, imagesPlace } from '../formats';

// prettier-ignore
export const ROWS = rows({
  STORAGE_PROVIDER: { kind: oneOf('local', 'qiniu'), required: 'set it to qiniu, or to local if one disk is enough',
    says: "local (on this server's disk, in DATA_DIR) or qiniu. Default: local." },
  IMAGES: { kind: imagesPlace, default: 'here', https: 'clients send their upload tokens there',
    says: `With STORAGE_PROVIDER=local, the process that keeps images: here (this process), only (this process, which
      then does nothing else), or the address of that process, https in production (docs/images.md). All these processes
      need the same database, SESSION_SECRETS and UPLOAD_… variables.` },
  UPLOAD_MAX_BYTES: { kind: whole(1, 1_073_741_824), default: 5 * 1_024 * 1_024, says: 'Maximum bytes of an image.' },
  PORTRAIT_HOSTS: { kind: hosts, default: '',
    says: `Hosts that portraits may be on, such as images.example.com, separated by commas, including the host of
      uploads. Limit them because a viewer's address is shown to the host of a portrait. Default: all.` },
});

export const SECTIONS: Section[] = [
  { title: 'Images', rows: ROWS, ours: ['STORAGE', 'PORTRAIT'] },
  vendorSection('With STORAGE_PROVIDER=local', LOCAL),
  vendorSection('With STORAGE_PROVIDER=qiniu', QINIU),
];

type Env = Values<typeof ROWS>;

export function storageOf(env: Env & { DATA_DIR: string }, mistakes: string[]): StorageSettings {
  const maxBytes = env.UPLOAD_MAX_BYTES;
  if (env.STORAGE_PROVIDER !== 'qiniu')
    return { provider: 'local', address: imagesAddress(env), maxBytes, ...LOCAL.read(env, '', mistakes, env.DATA_DIR) };
  if (env.IMAGES !== 'here')
    mistakes.push('IMAGES: unset it with STORAGE_PROVIDER=qiniu, where Qiniu stores the images');
  return { provider: 'qiniu', maxBytes, ...QINIU.read(env, 'STORAGE_PROVIDER=qiniu needs it', mistakes, {}) };
}

/** Returns the address of a separate image server. */
export function imagesAddress({ IMAGES }: Env): string | undefined {
  return IMAGES === 'here' || IMAGES === 'only' ? undefined : IMAGES;
}
