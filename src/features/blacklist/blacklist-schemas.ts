import { z } from 'zod';
import { time } from '../../base/schemas';
import { otherId, person } from '../users/profile';

export const friend = z.object({ friendId: otherId }).meta({ id: 'OneUser', description: 'A user.' });

const entry = z
  .strictObject({ ...person.shape, updatedAt: time })
  .meta({ id: 'BlacklistEntry', description: 'A user on the blacklist.' });

export type BlacklistEntry = z.infer<typeof entry>;

export const entries = z.array(entry);
