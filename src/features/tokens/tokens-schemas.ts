import { z } from 'zod';
import { signedIn } from '../auth/auth-schemas';

export const messagingToken = signedIn;

/** A value that is not a string is refused like an unlisted audience, and not taken for none. */
export const tokenOptions = z
  .object({
    audience: z
      .string()
      .catch('')
      .optional()
      .meta({ description: 'A service that the operator lists in `TOKEN_AUDIENCES`. Default: the messaging server.' }),
  })
  .meta({ id: 'TokenOptions', description: 'The service that the token is for.', examples: [{}] });

export const imageToken = z
  .strictObject({
    target: z.string().meta({ description: 'The storage of images: `local` or `qiniu`.', examples: ['local'] }),
    domain: z.string().meta({
      description: 'An image is at `<domain>/<key>`. With `qiniu` it may be a bare host name.',
      examples: ['http://127.0.0.1:8585/files'],
    }),
    token: z
      .string()
      .meta({ description: 'For uploads, valid for ten minutes.', examples: ['local:c2lnbmVk:cG9saWN5'] }),
  })
  .meta({ id: 'ImageToken', description: 'The target of an upload, and the token that allows it.' });
