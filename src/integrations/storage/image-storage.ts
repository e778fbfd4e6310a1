import type { Uploader } from '../../../packages/image-server/src';

export interface UploadToken {
  /** Kind of storage. */
  target: string;
  /** Where stored images are served; an image is at `<domain>/<key>`. */
  domain: string;
  token: string;
}

/** Storage of images that users upload, each under the user's own prefix. */
export interface ImageStorage {
  uploadToken(uploader: Uploader, publicUrl: string): UploadToken;
  /** Deletes the replaced portrait, if this service stores it. */
  portraitSet(userId: string, portraitUri: string): Promise<void>;
  /** Deletes the images of a closed account, if this service stores them. */
  accountClosed(userId: string): Promise<void>;
  /** Deletes images that are due and no longer shown, if this process stores them. */
  removeUnused(): Promise<void>;
  /** Like `removeUnused`, and deletes unfinished uploads. */
  sweep(): Promise<void>;
  /** Closes the storage after the last request, before the process ends. */
  close(): Promise<void>;
}
