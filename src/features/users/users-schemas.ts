import { z } from 'zod';
import { phoneInPath } from '../phones/phone-fields';
import { otherId, profile } from './profile';

export const byId = z.object({ id: otherId });

export const byIds = z
  .object({
    ids: z
      .array(otherId, { error: 'must be an array of ids' })
      .min(1, 'must be 1 to 100 ids')
      .max(100, 'must be 1 to 100 ids')
      .meta({ description: 'The ids, in the order of the answer.' }),
  })
  .meta({ id: 'UserIds', description: 'The users to read.' });

export const byPhone = phoneInPath;

export const profiles = z.array(profile);
