/** Why the image server refuses, in words for programs. Each has one code, which is the HTTP status of the answer. */
export const IMAGE_REASONS = {
  upload_token_refused: { code: 401, when: 'the upload token is missing, forged, or ended by a new password or phone' },
  upload_token_expired: { code: 401, when: 'the upload token has expired' },
  key_not_allowed: { code: 403, when: 'the key is one of another user' },
  malformed_upload: { code: 400, when: 'the form, a field of it, the body or the path of the upload is malformed' },
  upload_cut_off: { code: 400, when: 'the connection ended in the middle of the upload' },
  not_an_image: { code: 400, when: 'the file is no PNG, JPEG, GIF or WebP image that can be read' },
  image_too_complex: { code: 400, when: 'the image has too many pixels, frames or chunks' },
  image_too_slow: { code: 400, when: 'the image takes too long to be decoded' },
  image_too_large: { code: 413, when: 'the file, or the form around it, has too many bytes' },
  checksum_wrong: { code: 406, when: 'other bytes have arrived than the checksum is of' },
  upload_too_slow: { code: 408, when: 'the upload, or its token, came too slowly' },
  key_taken: { code: 614, when: 'the key holds another image' },
  unknown_upload: { code: 612, when: 'the upload or a part of it is unknown (version 2)' },
  unknown_blocks: { code: 701, when: 'a block or a part of it is unknown (version 1)' },
  too_many_uploads: { code: 429, when: 'this user has uploaded too many images' },
  too_many_parts: { code: 429, when: 'this user has sent too many parts of uploads' },
  too_many_incomplete: { code: 429, when: 'too many uploads of this user are not complete' },
  image_space_full: { code: 429, when: 'the images of this user take all the room that they may' },
  uploads_busy: { code: 503, when: 'too many uploads are under way, or too many images wait to be decoded' },
  images_unavailable: { code: 503, when: 'images cannot be decoded now' },
  disk_full: { code: 503, when: 'there is no room for images now' },
  image_gone: { code: 503, when: 'the image was removed while it was kept' },
  no_such_image: { code: 404, when: 'there is no such image' },
} as const;

export type ImageReason = keyof typeof IMAGE_REASONS;
