import { seconds, text } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

// prettier-ignore
const ROWS = rows({
  MESSAGING_JWT_AUDIENCE: { kind: text, says: 'The aud of tokens. Default: none.' },
  MESSAGING_TOKEN_TTL_SECONDS: { kind: seconds, default: 3_600, says: 'Lifetime of tokens.' },
});

export const JWT = vendor(ROWS, (env, need, audiences: readonly string[], mistakes) => {
  const audience = env.MESSAGING_JWT_AUDIENCE;
  // One key signs all tokens: only their audience tells them apart.
  if (audiences.length > 0) need('MESSAGING_JWT_AUDIENCE', () => 'TOKEN_AUDIENCES needs it to tell tokens apart');
  if (audience !== undefined && audiences.includes(audience))
    mistakes.push('TOKEN_AUDIENCES: must not contain MESSAGING_JWT_AUDIENCE, whose tokens login and get_token give');
  return { ttlSeconds: env.MESSAGING_TOKEN_TTL_SECONDS, audience };
});
