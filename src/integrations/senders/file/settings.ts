import { join } from 'node:path';
import { text } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

// prettier-ignore
const ROWS = rows({
  SMS_FILE: { kind: text, says: 'File with one JSON line per message. Default: sms.ndjson in DATA_DIR.' },
});

export const FILE = vendor(ROWS, (env, _need, { dataDir }: { dataDir: string }) => ({
  path: env.SMS_FILE ?? join(dataDir, 'sms.ndjson'),
}));
