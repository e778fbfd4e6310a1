import type { Caller } from './host';
import type { UploadGrant } from './upload-token';

export interface ImageName {
  userId: string;
  name: string;
}

export interface ImageEntry extends ImageName {
  /** Size as stored. */
  bytes: number;
  /** Qiniu's hash of the file as it was sent. */
  hash: string;
}

/**
 * The accounts' record of uploading users and of their images. An image is due for a check a day after its upload, or
 * as soon as the accounts say so.
 */
export interface ImageBook {
  /** Counts an upload. Throws when the account is closed or has a new password, or uploads too often. */
  admit(grant: UploadGrant, caller: Caller): Promise<void>;
  /** Counts this number of further uploads, or as many as the limit still allows. */
  charge(grant: UploadGrant, uploads: number, caller: Caller): Promise<void>;
  /** Like `admit`, but does not count an upload: another step of the same upload counts. */
  admitPart(grant: UploadGrant, caller: Caller): Promise<void>;
  /**
   * Enters an image before it gets its name. Returns `known` for an image that is already entered; it is then due a
   * day from now. Throws when the name holds another image, when the account's images would take more than `mostBytes`
   * (0: no limit), and whenever `admit` would.
   */
  enter(image: ImageEntry, grant: UploadGrant, mostBytes: number): Promise<'new' | 'known'>;
  has(image: ImageName): Promise<boolean>;
  remove(image: ImageName): Promise<void>;
  /** Enters images that are on the disk and not in the book. */
  adopt(images: ImageEntry[]): Promise<void>;
  /** Checks images that are due, of all users or of one, and removes the entries of those that are shown nowhere. */
  removeUnused(userId?: string): Promise<{ checked: number; removed: ImageName[] }>;
}
