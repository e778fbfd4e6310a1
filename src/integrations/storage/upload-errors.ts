import { AppError, BadRequest } from '../../errors';

/** The refusals of Qiniu's upload protocol that no other operation has. */
export class UploadTokenRefused extends AppError {
  readonly status = 401;
}

/** The token is good, and allows something else. */
export class KeyNotAllowed extends AppError {
  readonly status = 403;
}

/** Qiniu's own status for bytes that are not those that the sender has. */
export class ChecksumWrong extends AppError {
  readonly status = 406;
}

export class UploadTooSlow extends AppError {
  readonly status = 408;
}

/** Not TooLarge, whose answer closes the connection: a client that still sends its image would never read that. */
export class ImageTooLarge extends AppError {
  readonly status = 413;
}

/** An image that was ended for the time that it took. */
export class DecodingTooLong extends BadRequest {}

/** Qiniu's own status for a key that already holds another file. */
export class KeyTaken extends AppError {
  readonly status = 614;
}

/** Parts of no upload that is known: never begun, complete, given up or expired. Qiniu's SDKs then begin anew. */
export class PartsUnknown extends AppError {
  readonly status: number;

  /** Each version of Qiniu's protocol has a status of its own for it. */
  constructor(version: 'v1' | 'v2') {
    super('these parts belong to no upload that is under way: begin anew');
    this.status = { v1: 701, v2: 612 }[version];
  }
}
