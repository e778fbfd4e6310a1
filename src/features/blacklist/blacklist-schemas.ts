import { z } from 'zod';
import { id } from '../../http/parse';
import type { BlacklistEntry } from './blacklist-repository';

export const friend = z.object({ friendId: id });

export function listEntry({ id, nickname, portraitUri, updatedAt }: BlacklistEntry) {
  return { id, nickname, portraitUri, updatedAt: updatedAt.toISOString() };
}
