import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';

/** The smallest complete PNG: one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const pngOf = (bytes: number): Buffer => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length, 7)]);

export type Part = [name: string, value: string | Buffer];

/**
 * Builds a form in the order given; a Buffer is a file. Written by hand, since a library would tidy up hostile input.
 */
export function multipartForm(parts: Part[]): { headers: Record<string, string>; body: Buffer } {
  const boundary = '----a-boundary';
  const chunks = parts.flatMap(([name, value]) => {
    const file = typeof value === 'string' ? '' : '; filename="portrait.png"\r\nContent-Type: image/png';
    const header = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(header), Buffer.from(value), Buffer.from('\r\n')];
  });
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

/** Returns a picture of one colour, in any format. */
export function picture(format: 'png' | 'jpeg' | 'gif' | 'webp', width = 3, height = 2): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: 'teal' } })
    .toFormat(format)
    .toBuffer();
}

/** Returns a picture that cannot be compressed: three bytes a pixel. */
export function noise(width = 20, height = 20): Promise<Buffer> {
  return sharp(randomBytes(3 * width * height), { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

/** Returns a photo taken with the phone held upright, which contains its location. */
export function photo(width = 4, height = 2): Promise<Buffer> {
  const where = {
    GPSLatitudeRef: 'N',
    GPSLatitude: '51/1 30/1 0/1',
    GPSLongitudeRef: 'W',
    GPSLongitude: '0/1 7/1 0/1',
  };
  return sharp({ create: { width, height, channels: 3, background: 'teal' } })
    .withExif({ IFD0: { Make: 'Camera' }, IFD3: where })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
}

/** Returns a GIF or WebP with frames of different colours. */
export function animation(format: 'gif' | 'webp', frames = 3): Promise<Buffer> {
  const raw = Buffer.concat(Array.from({ length: frames }, (_, i) => Buffer.alloc(8 * 8 * 3, i * 80)));
  return sharp(raw, { raw: { width: 8, height: 8 * frames, channels: 3, pageHeight: 8 } })
    .toFormat(format, { loop: 0, delay: Array<number>(frames).fill(200) })
    .toBuffer();
}

/** Returns a GIF with a few bytes per frame, each of which decodes to width × height pixels. */
export function longGif(width: number, height: number, frames: number): Buffer {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width);
  screen.writeUInt16LE(height, 2);
  screen[4] = 0x80;
  const onePixel = Buffer.from('21f9040014000000' + '2c00000000010001000002024401' + '00', 'hex');
  const palette = Buffer.from('000000ffffff', 'hex');
  return Buffer.concat([
    Buffer.from('GIF89a'),
    screen,
    palette,
    ...Array<Buffer>(frames).fill(onePixel),
    Buffer.from(';'),
  ]);
}

/** Returns the headers of a PNG of any size, with a correct checksum and without pixels. */
export function hugePng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  return Buffer.concat([PNG.subarray(0, 8), pngChunk('IHDR', header), PNG.subarray(33)]);
}

export function pngChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, crc]);
}

/** Returns a PNG with more chunks after its header. */
export function pngWith(...chunks: Buffer[]): Buffer {
  return Buffer.concat([PNG.subarray(0, 33), ...chunks, PNG.subarray(33)]);
}

/** Returns the types of chunks, in their order. */
export function chunkTypes(png: Buffer): string[] {
  const types = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) types.push(png.toString('latin1', at + 4, at + 8));
  return types;
}

export interface Seen {
  format: string;
  width: number;
  height: number;
}

/** Returns the format and size that a viewer sees. */
export async function inspectImage(image: string | Buffer): Promise<Seen> {
  const { format, width, height } = await sharp(image).metadata();
  return { format, width, height };
}
