import { z } from 'zod';
import { bytes, described, id, inLine, PLAIN } from '../../base/schemas';

/** Id of a user in the document's examples who has Ann as a friend. */
const BOB = 'b3Hn8TyUc5Xe';

export const nickname = described(inLine(bytes(1, 32)), {
  description: `The name that others see: 1 to 32 bytes of UTF-8. ${PLAIN}`,
  examples: ['Ann'],
});

/** Nickname as others see it: empty for a closed account or none. */
export const shownNickname = z.string().meta({ description: 'Empty for a closed account.', examples: ['Ann'] });

export const shownPortraitUri = z.string().meta({
  description: 'An http or https address; empty where there is none.',
  examples: ['https://images.example.com/k7Qw2mZr9TfB/ann.png'],
});

/**
 * The fields that users see of each other. A new field also needs its column below, and is then shown with each
 * profile: by /user/:id, by /user/find and by /user/sync.
 */
export const profile = z
  .strictObject({ id, nickname: shownNickname, portraitUri: shownPortraitUri })
  .meta({ id: 'Profile', description: 'The fields that users see of each other.' });

/** Id of another user. */
export const otherId = described(id, { description: 'The id of another user.', examples: [BOB] });

export const ids = z.array(otherId, { error: 'must be an array of ids' }).meta({ description: 'The ids of users.' });
export const someIds = ids.min(1, 'must be 1 to 100 ids').max(100, 'must be 1 to 100 ids');

/** Nickname and portrait of another user. */
export const names = z
  .strictObject({
    nickname: described(shownNickname, { examples: ['Bob'] }),
    portraitUri: described(shownPortraitUri, { examples: [''] }),
  })
  .meta({ id: 'Names', description: 'How another user is called and looks. Empty for a closed account.' });

/** Another user, to be extended with other fields. */
export const person = z
  .strictObject({ id: otherId, ...names.shape })
  .meta({ id: 'Person', description: 'Another user.' });

export type Profile = z.infer<typeof profile>;
export type Person = z.infer<typeof person>;
export type Names = z.infer<typeof names>;

/** Columns in the table users. */
export const PROFILE_COLUMNS: Record<keyof Profile, string> = {
  id: 'id',
  nickname: 'nickname',
  portraitUri: 'portrait_uri',
};
