import type { Request, Response } from 'express';

/** Who sends a request, as far as the server must know. The host's own may tell more. */
export interface Caller {
  /** Whose uploads without a token count together. */
  address: string;
}

/** Admits jobs to something scarce, or throws a refusal of the host's. */
export interface Queue {
  /** A job that still waits when `gone` is aborted is refused. */
  run<T>(sender: string, job: () => Promise<T>, options?: { gone?: AbortSignal | undefined }): Promise<T>;
  /** Takes a place at once, and returns what gives it back. `abort` ends the job for another sender. */
  take(sender: string, options?: { abort?: (reason: Error) => void }): () => void;
}

export interface UploadQueues {
  /** By address: uploads whose token has not come yet. */
  uploadsBeforeToken: Queue;
  /** By user: parts that are received. */
  uploadParts: Queue;
  /** By user: uploads that are put together from parts. */
  uploadFiles: Queue;
}

/** What the server asks of the app that it is mounted in. */
export interface Host {
  callerOf: (req: Request) => Caller;
  /** The address that clients upload to. */
  publicUrlOf: (req: Request) => string;
  /** Marks an answer as one for Qiniu's SDKs: they log `X-Reqid`, and show an error's `error`. */
  answerLikeQiniu: (req: Request, res: Response) => void;
}
