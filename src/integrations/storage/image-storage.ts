export interface UploadToken {
  /** Kind of storage. */
  target: string;
  /** Address under which stored images are served; an image is at `<domain>/<key>`. */
  domain: string;
  token: string;
}

/** Lets a signed-in user upload images under a prefix of their own. */
export interface ImageStorage {
  uploadToken(userId: string, publicUrl: string): UploadToken;
  /** Removes what nobody will finish. */
  sweep(): Promise<void>;
}
