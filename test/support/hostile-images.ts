import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { pngChunk } from './images';

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

/** A colour for files whose colour profile is not the usual one. */
export const ORANGE = [200, 100, 50];
const orange = () => sharp(Buffer.from(Array(64).fill(ORANGE).flat()), { raw: { width: 8, height: 8, channels: 3 } });

/** Orange pictures with a given colour profile. */
export const PROFILED = {
  png: async (profile: Buffer) => {
    const png = await orange().png().toBuffer();
    const chunk = pngChunk('iCCP', Buffer.concat([Buffer.from('k\0\0'), deflateSync(profile, { level: 9 })]));
    return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
  },
  jpeg: async (profile: Buffer) => {
    const jpeg = await orange().jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer();
    const count = Math.ceil(profile.length / 65_000);
    const segments = Array.from({ length: count }, (_, i) => {
      const piece = profile.subarray(65_000 * i, 65_000 * (i + 1));
      const head = Buffer.from(`\xff\xe2\0\0ICC_PROFILE\0${String.fromCharCode(i + 1, count)}`, 'latin1');
      head.writeUInt16BE(head.length - 2 + piece.length, 2);
      return Buffer.concat([head, piece]);
    });
    return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
  },
  webp: async (profile: Buffer) => {
    const webp = await orange().webp({ lossless: true }).toBuffer();
    return riff(extendedHeader(0x20, 8), riffChunk('ICCP', profile), webp.subarray(12));
  },
};

/** Returns the colour profile of an iPhone's photos. */
export async function displayP3Profile(): Promise<Buffer> {
  const { icc } = await sharp(await orange().withIccProfile('p3').png().toBuffer()).metadata();
  if (icc === undefined) throw new Error('the picture has no profile');
  return icc;
}

/** Returns a profile with one more tag. */
export function profileWith(profile: Buffer, name: string, content: Buffer): Buffer {
  const tags = profile.readUInt32BE(128);
  const table = Buffer.concat([profile.subarray(128, 132 + 12 * tags), Buffer.alloc(12)]);
  for (let at = 4; at < table.length - 12; at += 12) table.writeUInt32BE(table.readUInt32BE(at + 4) + 12, at + 4);
  table.writeUInt32BE(tags + 1);
  table.write(name, table.length - 12);
  table.writeUInt32BE(profile.length + 12, table.length - 8);
  table.writeUInt32BE(content.length, table.length - 4);
  const whole = Buffer.concat([profile.subarray(0, 128), table, profile.subarray(132 + 12 * tags), content]);
  whole.writeUInt32BE(whole.length);
  // The first profile version with such tags.
  whole.writeUInt16BE(0x0440, 8);
  return whole;
}

/**
 * Returns a colour transform of many identical steps that change nothing. Each takes eight bytes, which deflate to
 * almost none.
 */
export function identitySteps(count: number): Buffer {
  const element = Buffer.alloc(60);
  element.write('matf');
  element.writeUInt32BE(0x00030003, 8);
  for (const at of [12, 28, 44]) element.writeFloatBE(1, at);
  const head = Buffer.alloc(16);
  head.write('mpet');
  head.writeUInt32BE(0x00030003, 8);
  head.writeUInt32BE(count, 12);
  const place = Buffer.alloc(8);
  place.writeUInt32BE(head.length + 8 * count);
  place.writeUInt32BE(element.length, 4);
  return Buffer.concat([head, ...Array<Buffer>(count).fill(place), element]);
}

/** Returns a WebP with many frames of one pixel. The decoder looks at all of them for each frame. */
export function longWebp(frames: number): Buffer {
  return riff(extendedHeader(0x02, 1), ANIMATION, Buffer.concat(Array<Buffer>(frames).fill(webpFrame())));
}

/** Like `longWebp`, but with all frames inside the first. */
export function nestedWebp(frames: number): Buffer {
  return riff(
    extendedHeader(0x02, 1),
    ANIMATION,
    webpFrame(Buffer.concat(Array<Buffer>(frames - 1).fill(webpFrame()))),
  );
}

function webpFrame(within = Buffer.alloc(0)): Buffer {
  const pixel = riffChunk('VP8L', Buffer.from([0x2f, 0, 0, 0, 0]));
  return riffChunk('ANMF', Buffer.concat([Buffer.alloc(12), u32(40), pixel, within]));
}

const ANIMATION = riffChunk('ANIM', Buffer.alloc(6));

function extendedHeader(flags: number, pixels: number): Buffer {
  return riffChunk('VP8X', Buffer.from([flags, 0, 0, 0, pixels - 1, 0, 0, pixels - 1, 0, 0]));
}

function riff(...chunks: Buffer[]): Buffer {
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]));
}

function riffChunk(type: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), u32(content.length), content, Buffer.alloc(content.length % 2)]);
}
