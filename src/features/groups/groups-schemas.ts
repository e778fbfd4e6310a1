import { z } from 'zod';
import { id } from '../../http/parse';

const group = z.strictObject({
  id,
  name: z.string(),
  portraitUri: z.string(),
  creatorId: z.string(),
  memberCount: z.number(),
});

export const groups = z.array(group);

export type Group = z.infer<typeof group>;
