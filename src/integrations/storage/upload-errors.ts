import { BadRequest, ErrorOf } from '../../base/errors';

/** The refusals of Qiniu's upload protocol that no other operation has. */
export class UploadTokenRefused extends ErrorOf<401> {}

/** The token is good, and allows something else. */
export class KeyNotAllowed extends ErrorOf<403> {}

/** Qiniu's own status for bytes that are not those that the sender has. */
export class ChecksumWrong extends ErrorOf<406> {}

export class UploadTooSlow extends ErrorOf<408> {}

/** Not TooLarge, whose answer closes the connection: a client that still sends its image would never read that. */
export class ImageTooLarge extends ErrorOf<413> {}

/** An image that was ended for the time that it took. */
export class DecodingTooLong extends BadRequest {}

/** Qiniu's own status for a key that already holds another file. */
export class KeyTaken extends ErrorOf<614> {}

/** Parts of no upload that is known: never begun, complete, given up or expired. Qiniu's SDKs then begin anew. */
export class PartsUnknown extends ErrorOf<612 | 701> {
  /** Each version of Qiniu's protocol has a status of its own for it. */
  constructor(version: 'v1' | 'v2') {
    const reason = version === 'v1' ? 'unknown_blocks' : 'unknown_upload';
    super(reason, 'these parts belong to no upload that is under way: begin anew');
  }
}
