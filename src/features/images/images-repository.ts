import type { Knex } from 'knex';
import type { ImageEntry, ImageName } from '../../../packages/image-server/src';
import { groupsEver } from '../../database/groups-ever';
import { holdInPlace } from '../../database/hold-in-place';
import { statement, type Source } from '../../database/statement';

/** An image as its owner and operators see it. */
export interface UploadedImage {
  name: string;
  bytes: number;
  isPortrait: boolean;
}

const BATCH = 500;

const KEY = `'/files/' || image.user_id || '/' || image.name`;
/** Compares paths: with any address of the service, with or without a query. `chr(63)` is `?`, Knex's placeholder. */
const shows = (uri: string) => `right(${pathOfUri(uri)}, length(${KEY})) = ${KEY}`;

const isPortraitOf = (owner: string) => `EXISTS (SELECT FROM users WHERE id = ${owner} AND ${shows('portrait_uri')})`;
const IS_PORTRAIT = isPortraitOf('image.user_id');

/**
 * Shown as the owner's portrait. An image that never was one also counts as the portrait of a group that the owner is
 * or was in, while the account is open: others must not keep an image online that its owner has removed.
 */
const SHOWN = `(
  ${IS_PORTRAIT}
  OR NOT image.was_portrait AND EXISTS (SELECT FROM users WHERE id = image.user_id AND closed_at IS NULL) AND EXISTS (SELECT FROM group_members member JOIN groups ON groups.id = member.group_id
              WHERE member.member_id = image.user_id AND ${shows('groups.portrait_uri')}))`;

const markPortrait = statement<unknown, 'userId' | 'uri'>(
  'mark-portrait',
  `UPDATE images image SET was_portrait = true
    WHERE user_id = :userId AND NOT was_portrait AND ${shows(':uri::text')}`,
);

const imagesOf = statement<UploadedImage, 'userId'>(
  'images-of-user',
  `SELECT name, bytes, ${isPortraitOf(':userId')} AS "isPortrait"
     FROM images image WHERE user_id = :userId ORDER BY name`,
);

const markReplaced = statement<Pick<UploadedImage, 'isPortrait'>, 'userId' | 'names'>(
  'mark-replaced-images',
  `UPDATE images image SET was_portrait = true WHERE user_id = :userId AND name = ANY (:names::text[])
   RETURNING ${isPortraitOf(':userId')} AS "isPortrait"`,
);

/** Makes replaced portraits due. Groups that showed one of them then have no portrait. */
const hurryReplaced = statement<unknown, 'userId'>(
  'hurry-replaced-portraits',
  `WITH image AS (
     UPDATE images image SET due_at = now() WHERE user_id = :userId AND was_portrait AND NOT ${IS_PORTRAIT}
     RETURNING image.user_id, image.name)
   UPDATE groups SET portrait_uri = '' FROM image
    WHERE groups.id = ANY (ARRAY(SELECT group_id FROM group_members WHERE member_id = :userId))
      AND ${shows('groups.portrait_uri')}`,
  {
    distributed: async (db, { userId }: { userId: string }) => {
      const keys = (await hurryReplacedOf(db, { userId })).map(({ key }) => key);
      return keys.length > 0 ? takeFromGroups(db, { keys, groupIds: await groupsEver(db, userId) }) : [];
    },
  },
);

const hurryReplacedOf = statement<{ key: string }, 'userId'>(
  'hurry-replaced-portraits-of-one',
  `UPDATE images image SET due_at = now() WHERE user_id = :userId AND was_portrait AND NOT ${isPortraitOf(':userId')}
   RETURNING ${KEY} AS key`,
);

const takeFromGroups = statement<unknown, 'groupIds' | 'keys'>(
  'take-portraits-from-groups',
  `UPDATE groups SET portrait_uri = ''
    WHERE id = ANY (:groupIds::text[])
      AND EXISTS (SELECT FROM unnest(:keys::text[]) AS image (key) WHERE right(${pathOfUri('portrait_uri')}, length(key)) = key)`,
);

const removeDue = (whose: string) =>
  `WITH due AS (SELECT user_id, name, was_portrait FROM images WHERE ${whose} due_at <= now() ORDER BY due_at LIMIT ${BATCH}
                 FOR UPDATE SKIP LOCKED),
   image AS (SELECT user_id, name, ${SHOWN} AS shown FROM due image),
   put_off AS (UPDATE images SET due_at = now() + interval '1 day' FROM image
                WHERE image.shown AND images.user_id = image.user_id AND images.name = image.name),
   removed AS (DELETE FROM images USING image
                WHERE NOT image.shown AND images.user_id = image.user_id AND images.name = image.name)
   SELECT user_id AS "userId", name, shown FROM image`;

type WasDue = ImageName & { shown: boolean };

const removeUnused = statement<WasDue>('remove-unused-images', removeDue(''), {
  distributed: async (db) => removeEach(db, await dueImages(db, {})),
});
const removeUnusedOf = statement<WasDue, 'userId'>('remove-unused-images-of-one', removeDue('user_id = :userId AND'), {
  distributed: async (db, { userId }) => removeEach(db, await dueImagesOf(db, { userId })),
});

type DueImage = ImageName & { isPortrait: boolean; mayBeOfGroup: boolean };

const dueOf = (owner: string, whose: string) =>
  `SELECT user_id AS "userId", name, ${isPortraitOf(owner)} AS "isPortrait",
          NOT was_portrait AND EXISTS (SELECT FROM users WHERE id = ${owner} AND closed_at IS NULL) AS "mayBeOfGroup"
     FROM images image WHERE ${whose} due_at <= now() ORDER BY due_at LIMIT ${BATCH}`;

const dueImages = statement<DueImage>('due-images', dueOf('image.user_id', ''));
const dueImagesOf = statement<DueImage, 'userId'>('due-images-of-one', dueOf(':userId', 'user_id = :userId AND'));

const groupPortraits = statement<{ uri: string }, 'groupIds'>(
  'portraits-of-groups',
  `SELECT portrait_uri AS uri FROM groups WHERE id = ANY (:groupIds::text[]) AND portrait_uri <> ''`,
);

const putOff = statement<unknown, 'userId' | 'name'>(
  'put-off-image',
  `UPDATE images SET due_at = now() + interval '1 day' WHERE user_id = :userId AND name = :name`,
);

const removeIfUnused = statement<ImageName, 'userId' | 'name'>(
  'remove-image-if-unused',
  `DELETE FROM images image
    WHERE user_id = :userId AND name = :name AND due_at <= now() AND NOT ${IS_PORTRAIT}
   RETURNING user_id AS "userId", name`,
);

/** The images that this service stores itself. */
export class ImagesRepository {
  constructor(private readonly db: Knex) {}

  /** Keeps others from entering images of the user until the transaction ends. False when the user may not upload. */
  async lockUploader(userId: string, credentialsVersion: number): Promise<boolean> {
    await holdInPlace(this.db, { key: userId });
    const owner: unknown = await this.db('users')
      .where({ id: userId, credentials_version: credentialsVersion })
      .whereNull('closed_at')
      .whereNull('suspended_at')
      .forNoKeyUpdate()
      .first('id');
    return owner !== undefined;
  }

  /** Puts the image off for a day, so that it is not removed right after a new upload. False when there is none. */
  async renew({ userId, name, hash }: ImageEntry): Promise<boolean> {
    const due_at = this.db.raw<Date>("now() + interval '1 day'");
    return (await this.db('images').where({ user_id: userId, name, hash }).update({ due_at })) > 0;
  }

  async hashOf({ userId, name }: ImageName): Promise<string | undefined> {
    const found = await this.db('images').where({ user_id: userId, name }).first<{ hash: string } | undefined>('hash');
    return found?.hash;
  }

  async ofUser(userId: string): Promise<UploadedImage[]> {
    return imagesOf(this.db, { userId });
  }

  /** Makes images count as former portraits, which no group keeps. Returns true if one is the portrait now. */
  async markReplaced(userId: string, names: string[]): Promise<boolean> {
    return (await markReplaced(this.db, { userId, names })).some(({ isPortrait }) => isPortrait);
  }

  async bytesOf(userId: string): Promise<number> {
    const sum = await this.db('images')
      .where({ user_id: userId })
      .sum<{ bytes: string | null }>('bytes AS bytes')
      .first();
    return Number(sum?.bytes ?? 0);
  }

  /** Enters images. Existing entries do not change. */
  async enter(images: ImageEntry[]): Promise<void> {
    const rows = images.map(({ userId, name, bytes, hash }) => ({ user_id: userId, name, bytes, hash }));
    await this.db('images').insert(rows).onConflict(['user_id', 'name']).ignore();
  }

  async remove({ userId, name }: ImageName): Promise<void> {
    await this.db('images').where({ user_id: userId, name }).delete();
  }

  async markPortrait(userId: string, uri: string): Promise<void> {
    await markPortrait(this.db, { userId, uri });
  }

  async hurryReplaced(userId: string): Promise<void> {
    await hurryReplaced(this.db, { userId });
  }

  async hurryAll(userId: string): Promise<void> {
    await this.db('images').where({ user_id: userId }).update({ due_at: this.db.fn.now() });
  }

  /** Removes due images that are shown nowhere, of all users or of one, and returns all that were due. */
  async removeUnused(userId?: string): Promise<WasDue[]> {
    return userId === undefined ? removeUnused(this.db, {}) : removeUnusedOf(this.db, { userId });
  }
}

async function removeEach(db: Source, due: DueImage[]): Promise<WasDue[]> {
  const members = new Set(due.filter(({ mayBeOfGroup }) => mayBeOfGroup).map((image) => image.userId));
  const portraits = new Map<string, string[]>();
  for (const member of members) {
    const found = await groupPortraits(db, { groupIds: await groupsEver(db, member) });
    portraits.set(
      member,
      found.map(({ uri }) => pathOf(uri)),
    );
  }
  const isOfGroup = ({ userId: owner, name }: ImageName) =>
    portraits.get(owner)?.some((path) => path.endsWith(`/files/${owner}/${name}`)) ?? false;
  const done: WasDue[] = [];
  for (const { isPortrait, mayBeOfGroup, ...image } of due) {
    const shown = isPortrait || (mayBeOfGroup && isOfGroup(image));
    if (shown) await putOff(db, { ...image });
    if (shown || (await removeIfUnused(db, { ...image })).length > 0) done.push({ ...image, shown });
  }
  return done;
}

/** Returns SQL for an address without query and fragment. */
function pathOfUri(uri: string): string {
  return `split_part(split_part(${uri}, chr(63), 1), '#', 1)`;
}

/** Returns an address without query and fragment. */
function pathOf(uri: string): string {
  return uri.split(/[?#]/, 1)[0] ?? '';
}
