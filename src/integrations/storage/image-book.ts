import type { Caller } from '../../base/caller';
import type { UploadGrant } from './local-upload-token';

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

/** What the storage asks of the accounts whose images it keeps, and what is known of the images. */
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
  /** Strikes the user's portraits that are shown no more, and returns them. */
  strikeReplaced(userId: string, portraitUri: string): Promise<ImageName[]>;
  /** Strikes all images of a user, and returns them. */
  strikeAll(userId: string): Promise<ImageName[]>;
  /** Looks at images that are a day old, or were looked at a day ago, and strikes those that are shown nowhere. */
  strikeUnused(): Promise<{ looked: number; struck: ImageName[] }>;
}
