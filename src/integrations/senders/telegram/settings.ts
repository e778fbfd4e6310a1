import { httpUrl, text } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

// prettier-ignore
const ROWS = rows({
  TELEGRAM_GATEWAY_TOKEN: { kind: text, secret: true, says: 'Token of the account at gateway.telegram.org.' },
  TELEGRAM_API_URL: { kind: httpUrl, default: 'https://gatewayapi.telegram.org',
    https: 'codes and the token are sent there', says: 'Address of the gateway.' },
});

interface Shared {
  codeTtlSeconds: number;
  receiptsUrl: string | undefined;
}

export const TELEGRAM = vendor(ROWS, (env, need, { codeTtlSeconds: ttlSeconds, receiptsUrl }: Shared) => ({
  token: need('TELEGRAM_GATEWAY_TOKEN'),
  ttlSeconds,
  receiptsUrl,
  apiUrl: env.TELEGRAM_API_URL,
}));
