import { z } from 'zod';
import { oneOf } from '../../base/formats';
import { rows, vendorSection, type Section, type Values } from '../../base/settings';
import type { MessagingSettings } from '../../integrations/messaging/choose-messaging-provider';
import { JWT } from '../../integrations/messaging/jwt/settings';
import { RONGCLOUD } from '../../integrations/messaging/rongcloud/settings';
import { isSigningKey } from '../../integrations/messaging/signing-key';
import { audiences } from '../formats';

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
