import type { ClientReason } from './answer.ts';
import type { OperationPath, ReasonOf, SharedReason } from './operations.ts';

type Login = '/user/login';

/** The client makes no login for these: logout wants no other session than the one that it ends. */
export type WithoutLogin = Login | '/user/logout';

/**
 * Why a call may have failed. Where the session has ended, it may be the login that the client makes. An editor shows the
 * words, and not the name of this type: hence the form of it.
 */
export type CallReason<Path extends OperationPath> = {
  [Asked in Path]: ReasonOf<Asked> | LoginReasonOf<Asked> | ClientReason;
}[Path];

type LoginReasonOf<Path extends OperationPath> = Path extends WithoutLogin
  ? never
  : 'not_signed_in' extends ReasonOf<Path>
    ? ReasonOf<Login>
    : never;

export type SyncReason = CallReason<'/user/sync/{version}'>;

/** Also those of the upload itself, at `/files`. */
export type UploadReason = CallReason<'/user/get_image_token' | '/user/set_portrait_uri'> | ReasonOf<'/files'>;

/** Those that no operation has to itself: what an app does then it need say only once. */
export type CommonReason = SharedReason | 'malformed_path' | ReasonOf<Login> | ClientReason;
