import { z } from 'zod';
import { bytes, id } from '../../http/parse';

export const nickname = bytes(1, 32);

/**
 * What users see of each other. A new field also gets its column below, and is then shown wherever a profile is: by
 * /user/:id, by /user/find and by /user/sync.
 */
export const profile = z.strictObject({ id, nickname: z.string(), portraitUri: z.string() });

export type Profile = z.infer<typeof profile>;

/** In the table users. */
export const PROFILE_COLUMNS: Record<keyof Profile, string> = {
  id: 'id',
  nickname: 'nickname',
  portraitUri: 'portrait_uri',
};
