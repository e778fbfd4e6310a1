import { z } from 'zod';
import { signedIn } from '../auth/auth-schemas';

export const messagingToken = signedIn;

export const imageToken = z
  .strictObject({
    target: z.string().meta({ description: 'Where images are kept: `local` or `qiniu`.', examples: ['local'] }),
    domain: z.string().meta({
      description: 'An image is at `<domain>/<key>`. With `qiniu` it may be a bare host name.',
      examples: ['http://127.0.0.1:8585/files'],
    }),
    token: z
      .string()
      .meta({ description: 'For an upload, within ten minutes.', examples: ['local:c2lnbmVk:cG9saWN5'] }),
  })
  .meta({ id: 'ImageToken', description: 'Where an upload goes, and what it is allowed with.' });
