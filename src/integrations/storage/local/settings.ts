import { join } from 'node:path';
import { whole } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

const MIB = 1_024 * 1_024;
const bytes = whole(0, 1_000_000 * MIB);

// prettier-ignore
const ROWS = rows({
  UPLOAD_BYTES_PER_USER: { kind: bytes, default: 0, production: 100 * MIB,
    says: 'Maximum bytes of all images of a user. 0 lifts the limit.' },
  UPLOAD_MIN_FREE_BYTES: { kind: bytes, default: 0, production: 1_024 * MIB,
    says: 'Minimum free bytes on the disk. With less, uploads are answered with 503. 0 lifts the limit.' },
});

export const LOCAL = vendor(ROWS, (env, _need, dataDir: string) => ({
  directory: join(dataDir, 'uploads'),
  maxBytesPerUser: env.UPLOAD_BYTES_PER_USER,
  minFreeBytes: env.UPLOAD_MIN_FREE_BYTES,
}));
