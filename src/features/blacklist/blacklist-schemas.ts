import { z } from 'zod';
import { time } from '../../base/schemas';
import { otherId, person } from '../users/profile';
import type { BlacklistEntry } from './blacklist-repository';

export const friend = z.object({ friendId: otherId }).meta({ id: 'OneUser', description: 'A user.' });

const entry = z
  .strictObject({ ...person.shape, updatedAt: time })
  .meta({ id: 'BlacklistEntry', description: 'A user on the blacklist.' });

export const entries = z.array(entry);

export function entryView({ id, nickname, portraitUri, updatedAt }: BlacklistEntry): z.infer<typeof entry> {
  return { id, nickname, portraitUri, updatedAt: updatedAt.toISOString() };
}
