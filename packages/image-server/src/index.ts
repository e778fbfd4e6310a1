import type { Router } from 'express';
import type { Host, Queue, UploadQueues } from './host';
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

export interface ImageServerParts {
  book: ImageBook;
  /** By user: images that are decoded. */
  queues: UploadQueues & { decoding: Queue };
  host: Host;
}

export interface ImageServer {
  /** To be mounted at the root of an app. Errors go to the app's error handler. */
  router: Router;
  /** Removes what is due and shown nowhere, of all users or of one. */
  removeUnused(userId?: string): Promise<void>;
  /** The same, and what was left of unfinished uploads. To be called now and then. */
  sweep(): Promise<void>;
  /** Once no request is under way any more, before the process ends. */
  close(): Promise<void>;
}

/** Takes images as Qiniu takes them, keeps them in a folder, and serves them. */
export function createImageServer(options: ImageServerOptions, { book, queues, host }: ImageServerParts): ImageServer {
  const store = new ImageStore(options, book, new ImageRewriter(queues.decoding));
  return {
    router: imageRouter(store, queues, host, options),
    removeUnused: (userId) => store.removeUnused(userId),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}
