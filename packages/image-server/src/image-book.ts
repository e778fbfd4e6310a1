import type { Caller } from './host';
import type { UploadGrant } from './upload-token';

export interface ImageName {
  userId: string;
  name: string;
}

export interface ImageEntry extends ImageName {
  /** As stored. */
  bytes: number;
  /** Qiniu's hash of the file as it was sent. */
  hash: string;
}

/**
 * What the accounts know of those who upload, and of the images that are kept for them. An image is due a day after it was
 * uploaded, or as soon as the accounts say so.
 */
export interface ImageBook {
  /** Counts an upload. Throws when the account is closed or has a new password, or uploads too often. */
  admit(grant: UploadGrant, caller: Caller): Promise<void>;
  /** Counts so many uploads more, or those that are left. */
  charge(grant: UploadGrant, uploads: number, caller: Caller): Promise<void>;
  /** The same as `admit` for what belongs to an upload that counts at another step. */
  admitPart(grant: UploadGrant, caller: Caller): Promise<void>;
  /**
   * Enters an image before it gets its name. `known` when the same image is entered already, which has another day then.
   * Throws when another one is, when the account's images would take more than `mostBytes` (0: no limit), or for what
   * `admit` throws.
   */
  enter(image: ImageEntry, grant: UploadGrant, mostBytes: number): Promise<'new' | 'known'>;
  has(image: ImageName): Promise<boolean>;
  strike(image: ImageName): Promise<void>;
  /** Enters images that lie on the disk and are not in the book. */
  adopt(images: ImageEntry[]): Promise<void>;
  /** Looks at images that are due, of all users or of one, and strikes those that are shown nowhere. */
  strikeUnused(userId?: string): Promise<{ looked: number; struck: ImageName[] }>;
}
