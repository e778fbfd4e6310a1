import type { Schemas } from './operations.ts';

/** A Blob or File; in React Native `{ uri, name, type }`. */
export type ImageFile = Blob | { uri: string; name: string; type: string };

export interface UploadedImage {
  url: string;
  key: string;
  hash: string;
}

export const UPLOAD = '/files';
/** Time limits for an upload: it is answered only after all of it has arrived. */
export const UPLOAD_TIMES = 10;

/** Returns the form of an upload, with the token first, so that the token is checked before the file is read. */
export function formOf(image: ImageFile, token: string, key: string | undefined): FormData {
  const form = new FormData();
  form.append('token', token);
  if (key !== undefined) form.append('key', key);
  form.append('file', image as Blob, 'image');
  return form;
}

/** Adds the address of a stored image. Qiniu's domain may have no scheme. */
export function uploadedAt(domain: string, stored: Schemas['StoredImage']): UploadedImage {
  const base = /^https?:\/\//.test(domain) ? domain : `http://${domain}`;
  return { ...stored, url: `${base}/${stored.key}` };
}
