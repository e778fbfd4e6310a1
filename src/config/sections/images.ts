import { z } from 'zod';
import { join } from 'node:path';
import { httpUrl, oneOf, text, whole } from '../../base/formats';
import { rows, vendor, vendorSection, type Section, type Values } from '../../base/settings';
import type { StorageSettings } from '../../integrations/storage/choose-image-storage';
import { hosts, imagesPlace } from '../formats';

const MIB = 1_024 * 1_024;
const bytes = whole(0, 1_000_000 * MIB);

// prettier-ignore
const LOCAL_ROWS = rows({
  UPLOAD_BYTES_PER_USER: { kind: bytes, default: 0, production: 100 * MIB,
    says: 'Maximum bytes of all images of a user. 0 lifts the limit.' },
  UPLOAD_MIN_FREE_BYTES: { kind: bytes, default: 0, production: 1_024 * MIB,
    says: 'Minimum free bytes on the disk. With less, uploads are answered with 503. 0 lifts the limit.' },
});

const LOCAL = vendor(LOCAL_ROWS, (env, _need, dataDir: string) => ({
  directory: join(dataDir, 'uploads'),
  maxBytesPerUser: env.UPLOAD_BYTES_PER_USER,
  minFreeBytes: env.UPLOAD_MIN_FREE_BYTES,
}));

/** Host name, with or without a port. */
const hostName = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?$/i);

// prettier-ignore
const QINIU_ROWS = rows({
  QINIU_ACCESS_KEY: { kind: text, says: 'Keys of the account, and its bucket.' },
  QINIU_SECRET_KEY: { kind: text, secret: true },
  QINIU_BUCKET: { kind: text },
  QINIU_DOMAIN: { kind: z.union([hostName, httpUrl], 'must be a host name, or an http or https address'),
    says: `Address at which the bucket's images are served, sent to clients unchanged. Clients build domain + "/" + key.
      Use https://, or a bare host name for clients that put http:// in front themselves.` },
  QINIU_UPLOAD_URL: { kind: httpUrl, default: 'https://upload.qiniup.com',
    https: 'clients send their upload tokens there',
    says: "Upload address of the bucket's region. Uploads that reach this service are redirected there." },
});

const QINIU = vendor(QINIU_ROWS, (env, need) => ({
  accessKey: need('QINIU_ACCESS_KEY'),
  secretKey: need('QINIU_SECRET_KEY'),
  bucket: need('QINIU_BUCKET'),
  domain: need('QINIU_DOMAIN'),
  uploadUrl: env.QINIU_UPLOAD_URL,
}));

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
