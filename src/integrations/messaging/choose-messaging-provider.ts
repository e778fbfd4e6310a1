import { Router } from 'express';
import { get } from '../../http/route';
import type { JwtMessagingOptions } from './jwt-messaging-provider';
import type { MessagingProvider } from './messaging-provider';
import type { KeptTokens, RongCloudOptions } from './rongcloud-messaging-provider';

export type MessagingSettings =
  | ({ provider: 'jwt' } & Omit<JwtMessagingOptions, 'privateKey'>)
  | ({ provider: 'rongcloud' } & Omit<RongCloudOptions, 'keptTokens'>);

interface Parts {
  /** Signs the tokens of `jwt`. */
  privateKey: string;
  /** Where those of `rongcloud` are kept. */
  keptTokens: KeptTokens;
}

/** The provider, and a router for the keys by which a messaging server checks tokens. */
export async function chooseMessagingProvider(
  settings: MessagingSettings,
  { privateKey, keptTokens }: Parts,
): Promise<{ messaging: MessagingProvider; jwks: Router }> {
  const jwks = Router();
  if (settings.provider === 'rongcloud') {
    const { RongCloudMessagingProvider } = await import('./rongcloud-messaging-provider');
    return { messaging: new RongCloudMessagingProvider({ ...settings, keptTokens }), jwks };
  }
  const { JwtMessagingProvider } = await import('./jwt-messaging-provider');
  const messaging = new JwtMessagingProvider({ ...settings, privateKey });
  get(jwks, '/jwks.json', (_req, res) => {
    res.set('Cache-Control', 'public, max-age=300').json(messaging.jwks());
  });
  return { messaging, jwks };
}
