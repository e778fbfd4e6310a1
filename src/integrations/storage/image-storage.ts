export interface UploadToken {
  /** Kind of storage. */
  target: string;
  /** Address under which stored images are served; an image is at `<domain>/<key>`. */
  domain: string;
  token: string;
}

/** Lets a user upload images, under a prefix of the user's own. */
export interface ImageStorage {
  uploadToken(userId: string, publicUrl: string): UploadToken;
  /** Deletes unfinished uploads. */
  sweep(): Promise<void>;
}
