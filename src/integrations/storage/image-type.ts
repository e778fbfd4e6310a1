import type { Sharp } from 'sharp';

export interface ImageType {
  mime: string;
  extension: string;
  /** Whether it may have several frames. */
  animated: boolean;
  /** How it is written anew. */
  encode(picture: Sharp): Sharp;
}

interface Signature extends ImageType {
  matches(head: Buffer): boolean;
}

const starts = (head: Buffer, bytes: string) => head.subarray(0, bytes.length).equals(Buffer.from(bytes, 'latin1'));

/** SVG is left out on purpose: it can carry scripts. */
const SIGNATURES: Signature[] = [
  {
    mime: 'image/png',
    extension: '.png',
    animated: false,
    matches: (head) => starts(head, '\x89PNG\r\n\x1a\n'),
    encode: (picture) => picture.png(),
  },
  {
    mime: 'image/jpeg',
    extension: '.jpg',
    animated: false,
    matches: (head) => starts(head, '\xff\xd8\xff'),
    encode: (picture) => picture.jpeg({ quality: 85 }),
  },
  {
    mime: 'image/gif',
    extension: '.gif',
    animated: true,
    matches: (head) => starts(head, 'GIF87a') || starts(head, 'GIF89a'),
    encode: (picture) => picture.gif({ effort: 2 }),
  },
  {
    mime: 'image/webp',
    extension: '.webp',
    animated: true,
    matches: (head) => starts(head, 'RIFF') && starts(head.subarray(8), 'WEBP'),
    encode: (picture) => picture.webp({ quality: 85, effort: 2 }),
  },
];

export const IMAGE_TYPES: readonly ImageType[] = SIGNATURES;

/** As many bytes as the longest signature needs. */
export const IMAGE_HEAD_BYTES = 12;

/** The type by the bytes alone, not by the name or the sender's claim. */
export function imageType(head: Buffer): ImageType | undefined {
  return SIGNATURES.find((signature) => signature.matches(head));
}
