import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { UploadedImage } from '../features/images/images-repository';
import { ALWAYS, OperatorError, type Command, type Row, type Context } from './command';
import { MOST_ROWS } from './lookups';
import { userIn } from './who';

export const IMAGES: Command[] = [
  {
    name: 'images show',
    takes: '<user>',
    what: 'shows how many images a user has uploaded, their bytes, and 50 of their names at most',
    scope: 'read',
    run: async (context, { words: [who = ''] }) => {
      const { id } = await userIn(context, who);
      checkIsHere(context, id);
      const images = await (await context.services()).profile.images(id);
      return { images: [sumOf(images)], names: rowsOf(images) };
    },
  },
  {
    name: 'images remove',
    takes: '<user> [name]',
    what: "removes all images of a user, or one by its name, also as a portrait and from the user's groups",
    scope: 'support',
    changes: ALWAYS,
    isFinal: true,
    run: async (context, { words: [who = '', name], options }) => {
      const { id } = await userIn(context, who);
      checkIsHere(context, id);
      const images = (await (await context.services()).profile.images(id)).filter(
        (one) => name === undefined || one.name === name,
      );
      if (images.length === 0) throw new OperatorError(`${name ?? id}: the user has no such image`);
      await checkDisk(context, id, images);
      if (options.dryRun) return { 'would remove': rowsOf(images) };
      return remove(context, id, images);
    },
  },
];

async function remove({ services }: Context, userId: string, images: UploadedImage[]) {
  const names = images.map(({ name }) => name);
  const { profile } = await services();
  await profile.removeImages(userId, names);
  const left = (await profile.images(userId)).map(({ name }) => name);
  const isLeft = ({ name }: UploadedImage) => left.includes(name);
  return {
    removed: rowsOf(images.filter((image) => !isLeft(image))),
    ...(images.some(isLeft) && { 'due for removal': rowsOf(images.filter(isLeft)) }),
  };
}

function checkIsHere({ config: { storage } }: Context, userId: string): void {
  if (storage.provider === 'qiniu')
    throw new OperatorError(`Qiniu keeps the images: look in the bucket ${storage.bucket} under ${userId}/`);
}

/** Elsewhere an image would leave the book, and its file would stay at its address until the service finds it. */
async function checkDisk({ config: { storage } }: Context, userId: string, images: UploadedImage[]): Promise<void> {
  if (storage.provider !== 'local' || storage.address !== undefined) return;
  const { directory } = storage;
  const found = images.map(({ name }) => access(join(directory, userId, name)));
  await Promise.any(found).catch(() => {
    throw new OperatorError(
      `${directory} has no image of the user: run this where the service runs, with its DATA_DIR`,
    );
  });
}

function sumOf(images: UploadedImage[]): Row {
  return { count: images.length, bytes: images.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function rowsOf(images: UploadedImage[]): Row[] {
  return images.slice(0, MOST_ROWS).map((image): Row => ({ ...image }));
}
