import { Router } from 'express';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint';
import { get } from '../../http/route';
import type { CallObserver } from '../calls';
import type { JwtMessagingOptions } from './jwt/provider';
import type { JwtSigner, SigningOptions } from './jwt-signer';
import type { Follower, MessagingProvider, Originals } from './messaging-provider';
import type { RongCloudAccess } from './rongcloud/api';
import type { KeptTokens } from './rongcloud/provider';

export type MessagingSettings = Omit<SigningOptions, 'privateKey'> & {
  /** Other services that tokens are signed for. */
  audiences: string[];
} & (({ provider: 'jwt' } & JwtMessagingOptions) | ({ provider: 'rongcloud' } & RongCloudAccess));

const publicKey = z
  .object({
    kty: z.string().meta({ description: 'The kind of key.', examples: ['OKP'] }),
    crv: z.string().meta({ description: 'Its curve.', examples: ['Ed25519'] }),
    x: z.string().meta({
      description: 'The public key, in base64url.',
      examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
    }),
    kid: z.string().meta({
      description: 'Its id, as in the header of a token.',
      examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
    }),
    alg: z.string().meta({ description: 'The algorithm of signatures.', examples: ['EdDSA'] }),
    use: z.string().meta({ description: 'Its use: signatures.', examples: ['sig'] }),
  })
  .meta({ id: 'PublicKey', description: 'A key that checks tokens.' });

export const keySet: Endpoint = {
  method: 'get',
  path: '/.well-known/jwks.json',
  name: 'jwks',
  summary: 'The keys with which messaging servers, and other services, check tokens.',
  answer: {
    type: 'application/json',
    result: z
      .object({
        keys: z
          .array(publicKey)
          .meta({ description: 'The current signing key and, if there is one, the previous key.' }),
      })
      .meta({ id: 'KeySet', description: 'The public keys, as in RFC 7517.' }),
  },
  // With tokens of RongCloud, which need no keys, and without audiences.
  refusals: ['no_such_path'],
};

interface Deps {
  /** Signs the tokens of `jwt`, and those for other services. */
  privateKey: string;
  /** Storage of the tokens of `rongcloud`. */
  keptTokens: KeptTokens;
  /** Users and groups that `rongcloud` keeps copies of. */
  originals: Originals;
  timeoutMs?: number | undefined;
  observe?: CallObserver | undefined;
}

interface Chosen {
  messaging: MessagingProvider;
  /** Follows changes, if it must. */
  follower?: Follower;
  /** Signs tokens for other services, if there are any. */
  signer: JwtSigner | undefined;
  /** Serves the keys with which servers check tokens. */
  jwks: Router;
}

export async function chooseMessagingProvider(
  settings: MessagingSettings,
  { privateKey, keptTokens, originals, timeoutMs, observe }: Deps,
): Promise<Chosen> {
  const { issuer, oldKey, audiences } = settings;
  const signerOf = async () => new (await import('./jwt-signer')).JwtSigner({ privateKey, issuer, oldKey });
  if (settings.provider === 'rongcloud') {
    const { RongCloudApi } = await import('./rongcloud/api');
    const { RongCloudFollower } = await import('./rongcloud/follower');
    const { RongCloudMessagingProvider } = await import('./rongcloud/provider');
    const api = new RongCloudApi({ ...settings, timeoutMs, observe });
    const messaging = new RongCloudMessagingProvider(api, keptTokens);
    const signer = audiences.length > 0 ? await signerOf() : undefined;
    return { messaging, follower: new RongCloudFollower(api, messaging, originals), signer, jwks: keysOf(signer) };
  }
  const { JwtMessagingProvider } = await import('./jwt/provider');
  const signer = await signerOf();
  return { messaging: new JwtMessagingProvider(signer, settings), signer, jwks: keysOf(signer) };
}

function keysOf(signer: JwtSigner | undefined): Router {
  const router = Router();
  if (signer)
    get(router, '/jwks.json', (_req, res) => {
      res.set('Cache-Control', 'public, max-age=300').json(signer.jwks());
    });
  return router;
}
