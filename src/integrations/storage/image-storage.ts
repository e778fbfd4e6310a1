import type { Uploader } from '../../../packages/image-server/src';

export interface UploadToken {
  /** Kind of storage. */
  target: string;
  /** Where stored images are served; an image is at `<domain>/<key>`. */
  domain: string;
  token: string;
}

/** Lets a user upload images, under a prefix of the user's own. */
export interface ImageStorage {
  uploadToken(uploader: Uploader, publicUrl: string): UploadToken;
  /** Deletes the portrait that was replaced, where this service keeps it. */
  portraitSet(userId: string, portraitUri: string): Promise<void>;
  /** Deletes what a closed account has uploaded, where this service keeps it. */
  accountClosed(userId: string): Promise<void>;
  /** Deletes images that are due and shown nowhere, where this process keeps them. */
  removeUnused(): Promise<void>;
  /** The same, and unfinished uploads. */
  sweep(): Promise<void>;
  /** Once no request is under way any more, before the process ends. */
  close(): Promise<void>;
}
