import { Router } from 'express';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint';
import { get } from '../../http/route';
import type { CallObserver } from '../calls';
import type { JwtMessagingOptions } from './jwt-messaging-provider';
import type { MessagingProvider } from './messaging-provider';
import type { KeptTokens, RongCloudOptions } from './rongcloud-messaging-provider';

export type MessagingSettings =
  | ({ provider: 'jwt' } & Omit<JwtMessagingOptions, 'privateKey'>)
  | ({ provider: 'rongcloud' } & Omit<RongCloudOptions, 'keptTokens'>);

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
  observe?: CallObserver | undefined;
}

/** Returns the provider, and a router for the keys with which messaging servers check tokens. */
export async function chooseMessagingProvider(
  settings: MessagingSettings,
  { privateKey, keptTokens, observe }: Parts,
): Promise<{ messaging: MessagingProvider; jwks: Router }> {
  const jwks = Router();
  if (settings.provider === 'rongcloud') {
    const { RongCloudMessagingProvider } = await import('./rongcloud-messaging-provider');
    return { messaging: new RongCloudMessagingProvider({ ...settings, keptTokens, observe }), jwks };
  }
  const { JwtMessagingProvider } = await import('./jwt-messaging-provider');
  const messaging = new JwtMessagingProvider({ ...settings, privateKey });
  get(jwks, '/jwks.json', (_req, res) => {
    res.set('Cache-Control', 'public, max-age=300').json(messaging.jwks());
  });
  return { messaging, jwks };
}
