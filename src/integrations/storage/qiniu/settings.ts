import { z } from 'zod';
import { httpUrl, text } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

/** Host name, with or without a port. */
const hostName = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?$/i);

// prettier-ignore
const ROWS = rows({
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

export const QINIU = vendor(ROWS, (env, need) => ({
  accessKey: need('QINIU_ACCESS_KEY'),
  secretKey: need('QINIU_SECRET_KEY'),
  bucket: need('QINIU_BUCKET'),
  domain: need('QINIU_DOMAIN'),
  uploadUrl: env.QINIU_UPLOAD_URL,
}));
