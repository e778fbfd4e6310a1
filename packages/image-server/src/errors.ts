import { IMAGE_REASONS, type ImageReason } from './reasons';

interface Extras {
  cause?: unknown;
  retryAfterSeconds?: number;
}

/** What comes next may succeed soon, where nothing else is said. */
const RETRY_SECONDS = 2;

/** What the server refuses. The host answers it: `message` is for the client's developer, `cause` for the log. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** The HTTP status of the answer. Qiniu has some of its own, above 599. */
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

/** The path takes other methods, which `allow` names. */
export class WrongMethod extends Error {
  override readonly name = 'WrongMethod';

  constructor(readonly allow: string) {
    super(`this path takes ${allow} only`);
  }
}

/** Parts of no upload that is known: never begun, complete, given up or expired. Qiniu's SDKs then begin anew. */
export function partsUnknown(version: 'v1' | 'v2'): Refusal {
  // Each version of Qiniu's protocol has a status of its own for it.
  const reason = version === 'v1' ? 'unknown_blocks' : 'unknown_upload';
  return new Refusal(reason, 'these parts belong to no upload that is under way: begin anew');
}

/** Of Node and the system. Under a test runner their errors are of another realm, and no instance of Error here. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return codes.includes(String(error.code));
}
