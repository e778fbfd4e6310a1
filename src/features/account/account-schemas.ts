import { z } from 'zod';

export const findability = z.object({ findable: z.boolean({ error: 'must be true or false' }) });
