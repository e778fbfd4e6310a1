import { z } from 'zod';

export const retryAfter = z
  .int()
  .min(1)
  .meta({ header: { id: 'RetryAfter' }, description: 'Seconds to wait.', examples: [2] });

export const requestId = z.string().meta({
  header: { id: 'RequestId' },
  description: 'The id of the request: as sent, if it has 1 to 64 letters, digits, `.`, `_` and `-`, else a new one.',
  examples: ['5f0c2b1e-3a65-4f7e-9c46-3f0f4f3f9a3b'],
});
