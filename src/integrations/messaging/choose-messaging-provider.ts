import { Router } from 'express';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint';
import { get } from '../../http/route';
import type { CallObserver } from '../calls';
import type { JwtMessagingOptions } from './jwt-messaging-provider';
import type { Follower, MessagingProvider, Originals } from './messaging-provider';
import type { RongCloudAccess } from './rongcloud-api';
import type { KeptTokens } from './rongcloud-messaging-provider';

export type MessagingSettings =
  ({ provider: 'jwt' } & Omit<JwtMessagingOptions, 'privateKey'>) | ({ provider: 'rongcloud' } & RongCloudAccess);

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
  summary: 'The keys with which messaging servers check tokens.',
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
  // With tokens of RongCloud, which need no keys.
  refusals: ['no_such_path'],
};

interface Parts {
  /** Signs the tokens of `jwt`. */
  privateKey: string;
  /** Storage of the tokens of `rongcloud`. */
  keptTokens: KeptTokens;
  /** Users and groups that `rongcloud` keeps copies of. */
  originals: Originals;
  observe?: CallObserver | undefined;
}

/** Returns the provider, who follows changes, if it must, and a router for the keys with which servers check tokens. */
export async function chooseMessagingProvider(
  settings: MessagingSettings,
  { privateKey, keptTokens, originals, observe }: Parts,
): Promise<{ messaging: MessagingProvider; follower?: Follower; jwks: Router }> {
  const jwks = Router();
  if (settings.provider === 'rongcloud') {
    const { RongCloudApi } = await import('./rongcloud-api');
    const { RongCloudFollower } = await import('./rongcloud-follower');
    const { RongCloudMessagingProvider } = await import('./rongcloud-messaging-provider');
    const api = new RongCloudApi({ ...settings, observe });
    const messaging = new RongCloudMessagingProvider(api, keptTokens);
    return { messaging, follower: new RongCloudFollower(api, messaging, originals), jwks };
  }
  const { JwtMessagingProvider } = await import('./jwt-messaging-provider');
  const messaging = new JwtMessagingProvider({ ...settings, privateKey });
  get(jwks, '/jwks.json', (_req, res) => {
    res.set('Cache-Control', 'public, max-age=300').json(messaging.jwks());
  });
  return { messaging, jwks };
}
