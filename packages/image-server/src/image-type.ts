export interface ImageType {
  mime: string;
  extension: string;
}

interface Signature extends ImageType {
  matches(head: Buffer): boolean;
}

const starts = (head: Buffer, bytes: string) => head.subarray(0, bytes.length).equals(Buffer.from(bytes, 'latin1'));

/** Supported types. SVG is left out on purpose: it can contain scripts. */
const SIGNATURES: Signature[] = [
  {
    mime: 'image/png',
    extension: '.png',
    matches: (head) => starts(head, '\x89PNG\r\n\x1a\n'),
  },
  {
    mime: 'image/jpeg',
    extension: '.jpg',
    matches: (head) => starts(head, '\xff\xd8\xff'),
  },
  {
    mime: 'image/gif',
    extension: '.gif',
    matches: (head) => starts(head, 'GIF87a') || starts(head, 'GIF89a'),
  },
  {
    mime: 'image/webp',
    extension: '.webp',
    matches: (head) => starts(head, 'RIFF') && starts(head.subarray(8), 'WEBP'),
  },
];

export const IMAGE_TYPES: readonly ImageType[] = SIGNATURES;

/** Number of bytes that the longest signature needs. */
export const IMAGE_HEAD_BYTES = 12;

/** Tells the type by the bytes, not by the name or the sender's claim. */
export function imageType(head: Buffer): ImageType | undefined {
  return SIGNATURES.find((signature) => signature.matches(head));
}
