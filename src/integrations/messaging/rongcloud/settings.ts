import { httpUrl, text } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

// prettier-ignore
const ROWS = rows({
  RONGCLOUD_APP_KEY: { kind: text, says: "Key and secret of the app in RongCloud's console." },
  RONGCLOUD_APP_SECRET: { kind: text, secret: true },
  RONGCLOUD_API_URL: { kind: httpUrl, default: 'https://api.rong-api.com', https: 'it answers with the tokens of users',
    says: 'Address of its API.' },
});

export const RONGCLOUD = vendor(ROWS, (env, need) => ({
  appKey: need('RONGCLOUD_APP_KEY'),
  appSecret: need('RONGCLOUD_APP_SECRET'),
  apiUrl: env.RONGCLOUD_API_URL,
}));
