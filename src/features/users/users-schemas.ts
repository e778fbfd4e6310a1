import { z } from 'zod';
import { id, phoneFields } from '../../http/parse';
import type { Profile } from './users-repository';

export const byId = z.object({ id });

export const byPhone = phoneFields;

export function publicProfile({ id, nickname, portraitUri }: Profile) {
  return { id, nickname, portraitUri };
}
