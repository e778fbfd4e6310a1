import type { Router } from 'express';
import type { Counts, Host, Queue, UploadQueues } from './host';
import type { ImageBook } from './image-book';
import { ImageRewriter } from './image-rewriter';
import { imageRouter, type UploadTimes } from './image-router';
import { ImageStore, type StoreOptions } from './image-store';

export { Refusal, WrongMethod } from './errors';
export type { Caller, Host, Queue, UploadQueues } from './host';
export type { ImageBook, ImageEntry, ImageName } from './image-book';
export { IMAGE_PATH, RESUMABLE_PATHS, UPLOAD_PATHS } from './image-router';
export type { StoreOptions } from './image-store';
export { uploadPolicy } from './upload-policy';
export { signUploadToken, type Uploader } from './upload-token';

export type ImageServerOptions = StoreOptions & UploadTimes;

export interface ImageServerDeps {
  book: ImageBook;
  /** `decoding`: images being decoded, per user. */
  queues: UploadQueues & { decoding: Queue };
  host: Host;
  /** Counts images that were stored. */
  counts: Counts;
}

export interface ImageServer {
  /** Router for the root of an app. Errors go to the app's error handler. */
  router: Router;
  /** Removes images that are due and shown nowhere, of all users or of one. */
  removeUnused(userId?: string): Promise<void>;
  /** Removes such images of all users, and the rests of unfinished uploads. Call it every few minutes. */
  sweep(): Promise<void>;
  /** Call it once all requests have ended, before the process ends. */
  close(): Promise<void>;
}

/** Accepts images by Qiniu's upload protocol, keeps them in a folder, and serves them. */
export function createImageServer(
  options: ImageServerOptions,
  { book, queues, host, counts }: ImageServerDeps,
): ImageServer {
  const store = new ImageStore(options, book, new ImageRewriter(queues.decoding), counts);
  return {
    router: imageRouter(store, queues, host, options),
    removeUnused: (userId) => store.removeUnused(userId),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}
