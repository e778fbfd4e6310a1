import { IMAGE_REASONS, type ImageReason } from './reasons';

interface Extras {
  cause?: unknown;
  retryAfterSeconds?: number;
}

/** Default of `Retry-After` for a 503. */
const RETRY_SECONDS = 2;

/** A refused request. The host answers it: `message` is for the client's developer, `cause` for the log. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** HTTP status of the answer. Qiniu has some statuses of its own, above 599. */
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly reason: ImageReason,
    message: string,
    { cause, retryAfterSeconds }: Extras = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = IMAGE_REASONS[reason].code;
    this.retryAfterSeconds = retryAfterSeconds ?? (this.status === 503 ? RETRY_SECONDS : undefined);
  }
}

/** A request with a method that the path does not take. `allow` names those that it takes. */
export class WrongMethod extends Error {
  override readonly name = 'WrongMethod';

  constructor(readonly allow: string) {
    super(`this path takes ${allow} only`);
  }
}

/** Refuses parts of an unknown upload: never begun, complete, aborted or expired. Qiniu's SDKs then start it again. */
export function partsUnknown(version: 'v1' | 'v2'): Refusal {
  // Each version of Qiniu's protocol has its own status for it.
  const reason = version === 'v1' ? 'unknown_blocks' : 'unknown_upload';
  return new Refusal(reason, 'these parts do not belong to an upload in progress: start the upload again');
}

/** Tells errors of Node and the system by code: in a test runner they are of another realm, and `instanceof` fails. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return codes.includes(String(error.code));
}
