import { z } from 'zod';
import { described } from '../../base/schemas';
import { otherId, profile, someIds } from './profile';

export const byId = z.object({ id: otherId });

export const byIds = z
  .object({
    ids: described(someIds, { description: 'The ids. The answer has their order.' }),
  })
  .meta({ id: 'UserIds', description: 'The users to read.' });

export const profiles = z.array(profile);
