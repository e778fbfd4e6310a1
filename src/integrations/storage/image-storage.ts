export interface UploadToken {
  /** Kind of storage. */
  target: string;
  /** Where stored images are served; an image is at `<domain>/<key>`. */
  domain: string;
  token: string;
}

/** Where forms are taken. A proxy that makes one origin of an app and this service leaves `/` to the app; Qiniu's SDKs send there. */
export const UPLOAD_PATHS = ['/files', '/'] as const;

/** Who is to upload. */
export interface Uploader {
  userId: string;
  credentialsVersion: number;
}

/** Lets a user upload images, under a prefix of the user's own. */
export interface ImageStorage {
  uploadToken(uploader: Uploader, publicUrl: string): UploadToken;
  /** Deletes the portrait that was replaced, where this service keeps it. */
  portraitSet(userId: string, portraitUri: string): Promise<void>;
  /** Deletes what a closed account has uploaded, where this service keeps it. */
  accountClosed(userId: string): Promise<void>;
  /** Deletes unfinished uploads, and images that are shown nowhere. */
  sweep(): Promise<void>;
  /** Once no request is under way any more, before the process ends. */
  close(): Promise<void>;
}
