import { z } from 'zod';
import { httpUrl, list } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

/** Secret of Standard Webhooks, of 24 to 64 bytes. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
const MISTAKE = 'must be whsec_ and 24 or more bytes in base64: echo whsec_$(openssl rand -base64 32) makes one';

// prettier-ignore
const ROWS = rows({
  SMS_HTTP_URL: { kind: httpUrl, https: 'codes are sent there',
    says: 'Address of an endpoint of yours that takes messages.' },
  SMS_HTTP_SECRET: { kind: list.pipe(z.array(z.string().regex(SECRET, MISTAKE)).min(1, MISTAKE)), secret: true,
    says: 'Secrets that sign them, separated by a comma while one is changed. This makes one: `echo whsec_$(openssl rand -base64 32)`' },
});

export const HTTP = vendor(ROWS, (_env, need) => ({ url: need('SMS_HTTP_URL'), secrets: need('SMS_HTTP_SECRET') }));
