import { z } from 'zod';
import { id } from '../../http/parse';
import { phoneFields } from '../phones/phone-fields';
import { profile } from './profile';

export const byId = z.object({ id });

export const byIds = z.object({
  ids: z
    .array(id, { error: 'must be an array of ids' })
    .min(1, 'must be 1 to 100 ids')
    .max(100, 'must be 1 to 100 ids'),
});

export const byPhone = phoneFields;

export const profiles = z.array(profile);
