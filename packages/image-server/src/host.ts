import type { Request, Response } from 'express';

/** The sender of a request. The host's own type may have more fields. */
export interface Caller {
  /** Network address. Uploads without a token are counted by it. */
  address: string;
}

/** Admits jobs to a scarce resource, or throws a refusal of the host's. */
export interface Queue {
  /** Runs the job in its turn. Refuses it if it still waits when `gone` is aborted. */
  run<T>(sender: string, job: () => Promise<T>, options?: { gone?: AbortSignal | undefined }): Promise<T>;
  /** Takes a slot at once, and returns a function that frees it. `abort` is called to make room for another sender. */
  take(sender: string, options?: { abort?: (reason: Error) => void }): () => void;
}

export interface UploadQueues {
  /** Uploads whose token has not arrived yet, per address. */
  uploadsBeforeToken: Queue;
  /** Parts being received, per user. */
  uploadParts: Queue;
  /** Uploads being assembled from their parts, per user. */
  uploadFiles: Queue;
}

/** Counts of an event, by name. */
export interface Counts {
  add(name: string): void;
}

/** Functions of the app that mounts the server. */
export interface Host {
  callerOf: (req: Request) => Caller;
  /** The address that clients upload to. */
  publicUrlOf: (req: Request) => string;
  /** Marks an answer as one for Qiniu's SDKs: they log `X-Reqid`, and show an error's `error`. */
  answerLikeQiniu: (req: Request, res: Response) => void;
}
