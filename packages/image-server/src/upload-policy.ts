import { IMAGE_TYPES } from './image-type';

const VALID_SECONDS = 600;

/** Qiniu's upload policy, which says what one token allows. Both kinds of storage honour these fields. */
export interface UploadPolicy {
  scope: string;
  isPrefixalScope: 1;
  insertOnly: 1;
  deadline: number;
  fsizeLimit: number;
  mimeLimit: string;
  detectMime: 1;
  saveKey: string;
  forceSaveKey: false;
  returnBody: string;
}

/** Returns a policy that allows new images only, under the user's own prefix, for ten minutes. */
export function uploadPolicy(bucket: string, userId: string, maxBytes: number): UploadPolicy {
  return {
    scope: `${bucket}:${userId}/`,
    isPrefixalScope: 1,
    insertOnly: 1,
    deadline: Math.floor(Date.now() / 1000) + VALID_SECONDS,
    fsizeLimit: maxBytes,
    mimeLimit: IMAGE_TYPES.map(({ mime }) => mime).join(';'),
    // Type by the content, not by the client's claim.
    detectMime: 1,
    // For an upload that names no key.
    saveKey: `${userId}/$(etag)`,
    forceSaveKey: false,
    returnBody: '{"key":"$(key)","hash":"$(etag)"}',
  };
}
