import type { ClientReason } from './answer.ts';
import type { OperationPath, ReasonOf, SharedReason } from './operations.ts';

type Login = '/user/login';

/** Operations for which the client does not log in: logout needs only the session that it ends. */
export type WithoutLogin = Login | '/user/logout';

/**
 * Why a call may have failed, including the login that the client makes when the session has ended. The form of this
 * type makes editors show the reasons, not the name of the type.
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

/** Includes the reasons of the upload itself, at `/files`. */
export type UploadReason = CallReason<'/user/get_image_token' | '/user/set_portrait_uri'> | ReasonOf<'/files'>;

/** Reasons that are not specific to one operation: an app handles them once, for all calls. */
export type CommonReason = SharedReason | 'malformed_path' | ReasonOf<Login> | ClientReason;
