import { operation, type Operation } from '../../http/operation';
import type { PublicUrlOf } from '../../http/public-url';
import { imageToken, messagingToken, tokenOptions } from './tokens-schemas';
import type { TokensService } from './tokens-service';

export function tokensRouter(tokens: TokensService, publicUrlOf: PublicUrlOf): Operation[] {
  return [
    operation({
      path: '/user/get_token',
      summary: 'Returns a token for the messaging server, or for another service.',
      access: 'reader',
      options: tokenOptions,
      result: messagingToken,
      refusals: ['unknown_audience'],
      handle: async ({ audience }, reader) =>
        audience === undefined
          ? tokens.messagingToken(reader, publicUrlOf(reader.req))
          : tokens.audienceToken(reader, audience, publicUrlOf(reader.req)),
    }),
    operation({
      path: '/user/get_image_token',
      summary: 'Returns a token for uploading images, and the address of stored images.',
      access: 'user',
      result: imageToken,
      handle: async (_input, { session, req }) => tokens.uploadToken(session, publicUrlOf(req)),
    }),
  ];
}
