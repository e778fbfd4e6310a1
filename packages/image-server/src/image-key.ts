import { Refusal } from './errors';
import type { UploadGrant } from './upload-token';

export const USER_ID = /^[A-Za-z0-9_-]{1,64}$/;
export const IMAGE_NAME = /^[A-Za-z0-9_-]{1,64}(\.(png|jpe?g|gif|webp))?$/;

/** Returns the name in a key. Throws unless the grant allows the key. */
export function nameIn(key: string, { userId }: UploadGrant): string {
  const [owner, name, ...more] = key.split('/');
  if (owner === undefined || name === undefined || more.length > 0 || !USER_ID.test(owner) || !IMAGE_NAME.test(name)) {
    throw new Refusal(
      'malformed_upload',
      'key: must be <user id>/<name>, the name of 1 to 64 of A-Z a-z 0-9 _ - and an image extension',
    );
  }
  if (owner !== userId)
    throw new Refusal('key_not_allowed', `key: must start with ${userId}/, the token allows nothing else`);
  return name;
}
