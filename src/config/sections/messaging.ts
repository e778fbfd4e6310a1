import { z } from 'zod';
import { httpUrl, oneOf, seconds, text } from '../../base/formats';
import { rows, vendor, vendorSection, type Section, type Values } from '../../base/settings';
import type { MessagingSettings } from '../../integrations/messaging/choose-messaging-provider';
import { isSigningKey } from '../../integrations/messaging/signing-key';
import { audiences } from '../formats';

// prettier-ignore
const JWT_ROWS = rows({
  MESSAGING_JWT_AUDIENCE: { kind: text, says: 'The aud of tokens. Default: none.' },
  MESSAGING_TOKEN_TTL_SECONDS: { kind: seconds, default: 3_600, says: 'Lifetime of tokens.' },
});

const JWT = vendor(JWT_ROWS, (env, need, audiences: readonly string[], mistakes) => {
  const audience = env.MESSAGING_JWT_AUDIENCE;
  // One key signs all tokens: only their audience tells them apart.
  if (audiences.length > 0) need('MESSAGING_JWT_AUDIENCE', () => 'TOKEN_AUDIENCES needs it to tell tokens apart');
  if (audience !== undefined && audiences.includes(audience))
    mistakes.push('TOKEN_AUDIENCES: must not contain MESSAGING_JWT_AUDIENCE, whose tokens login and get_token give');
  return { ttlSeconds: env.MESSAGING_TOKEN_TTL_SECONDS, audience };
});

// prettier-ignore
const RONGCLOUD_ROWS = rows({
  RONGCLOUD_APP_KEY: { kind: text, says: "Key and secret of the app in RongCloud's console." },
  RONGCLOUD_APP_SECRET: { kind: text, secret: true },
  RONGCLOUD_API_URL: { kind: httpUrl, default: 'https://api.rong-api.com', https: 'it answers with the tokens of users',
    says: 'Address of its API.' },
});

const RONGCLOUD = vendor(RONGCLOUD_ROWS, (env, need) => ({
  appKey: need('RONGCLOUD_APP_KEY'),
  appSecret: need('RONGCLOUD_APP_SECRET'),
  apiUrl: env.RONGCLOUD_API_URL,
}));

// prettier-ignore
export const ROWS = rows({
  MESSAGING_PROVIDER: { kind: oneOf('jwt', 'rongcloud'), default: 'jwt',
    says: 'jwt (any server can check them with /.well-known/jwks.json) or rongcloud' },
  MESSAGING_JWT_KEY: {
    kind: z.string().refine(isSigningKey, 'must be an Ed25519 private key: openssl genpkey -algorithm ed25519 | base64 -w0 makes one'),
    secret: true,
    says: `Private key that signs tokens of jwt, and those of TOKEN_AUDIENCES. Default: generated and kept in DATA_DIR.
      Required in production for either. This makes one: openssl genpkey -algorithm ed25519 | base64 -w0` },
  MESSAGING_JWT_OLD_KEY: {
    kind: z.string().refine(isSigningKey, 'must be an Ed25519 private key: the value that MESSAGING_JWT_KEY had before'),
    secret: true, says: 'Previous value of MESSAGING_JWT_KEY, so that its tokens stay valid until they expire' },
  TOKEN_AUDIENCES: { kind: audiences, default: '',
    says: `Your other services that get_token signs tokens for, by the key above, separated by commas:
      reports,https://calls.example.com. Each must refuse tokens with another aud than its own. Needs
      MESSAGING_JWT_AUDIENCE with MESSAGING_PROVIDER=jwt, and in production MESSAGING_JWT_KEY with either provider.
      Default: none.` },
});

export const SECTIONS: Section[] = [
  { title: 'Messaging tokens', rows: ROWS, unfit: unfitKey },
  vendorSection('With MESSAGING_PROVIDER=jwt', JWT),
  vendorSection('With MESSAGING_PROVIDER=rongcloud', RONGCLOUD),
];

type Env = Values<typeof ROWS>;

export function messagingOf(env: Env, issuer: string | undefined, mistakes: string[]): MessagingSettings {
  const { TOKEN_AUDIENCES: audiences, MESSAGING_JWT_OLD_KEY: oldKey } = env;
  const signing = { issuer, oldKey, audiences };
  if (env.MESSAGING_PROVIDER === 'jwt')
    return { provider: 'jwt', ...signing, ...JWT.read(env, '', mistakes, audiences) };
  const why = 'MESSAGING_PROVIDER=rongcloud needs it';
  return { provider: 'rongcloud', ...signing, ...RONGCLOUD.read(env, why, mistakes, {}) };
}

function unfitKey({ MESSAGING_PROVIDER, TOKEN_AUDIENCES, MESSAGING_JWT_KEY }: Env): string[] {
  const signs = MESSAGING_PROVIDER === 'jwt' || TOKEN_AUDIENCES.length > 0;
  if (!signs || MESSAGING_JWT_KEY) return [];
  return ['MESSAGING_JWT_KEY: set it, for example to what openssl genpkey -algorithm ed25519 | base64 -w0 prints'];
}
