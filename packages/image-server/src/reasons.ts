/** Reasons of refusals, for programs. Each has one code, which is the HTTP status of the answer. */
export const IMAGE_REASONS = {
  upload_token_refused: {
    code: 401,
    when: 'the upload token is missing, forged, or revoked by a new password, a new phone or a suspension',
  },
  upload_token_expired: { code: 401, when: 'the upload token has expired' },
  key_not_allowed: { code: 403, when: 'the key belongs to another user' },
  malformed_upload: { code: 400, when: 'the form, one of its fields, the body or the path of the upload is malformed' },
  upload_cut_off: { code: 400, when: 'the connection was closed during the upload' },
  not_an_image: { code: 400, when: 'the file is not a readable PNG, JPEG, GIF or WebP image' },
  image_too_complex: { code: 400, when: 'the image has too many pixels, frames or chunks' },
  image_too_slow: { code: 400, when: 'decoding the image takes too long' },
  image_too_large: { code: 413, when: 'the file, or the form around it, is too large' },
  checksum_wrong: { code: 406, when: 'the bytes that arrived do not match the checksum' },
  upload_too_slow: { code: 408, when: 'the upload or its token arrived too slowly' },
  key_taken: { code: 614, when: 'the key holds another image' },
  unknown_upload: { code: 612, when: 'the upload or one of its parts is unknown (version 2)' },
  unknown_blocks: { code: 701, when: 'a block or one of its parts is unknown (version 1)' },
  too_many_uploads: { code: 429, when: 'this user has uploaded too many images' },
  too_many_parts: { code: 429, when: 'this user has sent too many parts of uploads' },
  too_many_incomplete: { code: 429, when: 'this user has too many incomplete uploads' },
  image_space_full: { code: 429, when: "the user's images take all the space that they may" },
  uploads_busy: { code: 503, when: 'too many uploads are in progress, or too many images wait to be decoded' },
  images_unavailable: { code: 503, when: 'images cannot be decoded at the moment' },
  disk_full: { code: 503, when: 'there is no room for images at the moment' },
  image_gone: { code: 503, when: 'the image was removed while it was being stored' },
  no_such_image: { code: 404, when: 'the image does not exist' },
} as const;

export type ImageReason = keyof typeof IMAGE_REASONS;
