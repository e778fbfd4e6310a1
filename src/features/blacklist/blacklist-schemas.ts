import { z } from 'zod';
import { id } from '../../http/parse';
import type { BlacklistEntry } from './blacklist-repository';

export const friend = z.object({ friendId: id });

const entry = z.strictObject({ id, nickname: z.string(), portraitUri: z.string(), updatedAt: z.iso.datetime() });

export const entries = z.array(entry);

export function entryView({ id, nickname, portraitUri, updatedAt }: BlacklistEntry): z.infer<typeof entry> {
  return { id, nickname, portraitUri, updatedAt: updatedAt.toISOString() };
}
