import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import {
  longWebp,
  nestedWebp,
  ORANGE,
  displayP3Profile,
  PROFILED,
  profileWith,
  identitySteps,
} from '../../../test/support/hostile-images';
import { animation, chunkTypes, longGif, PNG, pngChunk, pngWith } from '../../../test/support/images';
import { post, startImageServer, type ImageServer } from './image-server';

const MIB = 1_024 * 1_024;
const USER = 'user_A-1';

/** A payload that deflates to a thousandth. */
const inflating = (bytes: number) => deflateSync(Buffer.alloc(bytes, 'A'), { level: 9 });
const zTXt = (bytes: number) => pngChunk('zTXt', Buffer.concat([Buffer.from('k\0\0'), inflating(bytes)]));
const iTXt = (bytes: number) => pngChunk('iTXt', Buffer.concat([Buffer.from('k\0\x01\0\0\0'), inflating(bytes)]));
const iCCP = (deflated: Buffer) => pngChunk('iCCP', Buffer.concat([Buffer.from('k\0\0'), deflated]));
/** Exif data of an image that is held upright. */
const ROTATED = Buffer.from('49492a0008000000' + '0100' + '120103000100000006000000' + '00000000', 'hex');

describe('a PNG', () => {
  let server: ImageServer;

  beforeEach(async () => {
    server = await startImageServer({ maxBytes: MIB });
  });
  afterEach(() => server.close());

  const upload = (png: Buffer) =>
    post(server.url, [
      ['token', server.tokenOf(USER)],
      ['key', `${USER}/a.png`],
      ['file', png],
    ]);
  /** Returns the bytes that the decoder gets, for pieces of any size. */
  const decoded = async (png: Buffer, pieceBytes = 65_536) => {
    const pieces = [];
    for (let at = 0; at < png.length; at += pieceBytes) pieces.push(png.subarray(at, at + pieceBytes));
    const image = await server.storage.receive(Readable.from(pieces));
    const bytes = await readFile(image.path);
    await server.storage.discard(image);
    return bytes;
  };

  // guard hostile-images-1: the decoder does not get texts of a PNG, which it would inflate
  // packages/image-server/src/image-store.ts
  // - new PngSieve(),
  it('does not take hundreds of megabytes of memory when a few kilobytes would inflate to that', async () => {
    const bomb = pngWith(...Array<Buffer>(4).fill(zTXt(25_000_000)));
    expect(bomb.length).toBeLessThan(200_000);
    expect(await upload(bomb)).toMatchObject({ status: 200 });
    const before = process.resourceUsage().maxRSS;
    await sharp(await decoded(bomb)).toBuffer();
    // Without the sieve it was five bytes for each byte of the text.
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(150 * 1_024);
  });

  it.each([1, 7, 65_536])(
    'is decoded without chunks that are not part of the picture, also in pieces of %i bytes',
    async (pieceBytes) => {
      const kept = [pngChunk('gAMA', Buffer.alloc(4, 1)), iCCP(inflating(1_000)), pngChunk('eXIf', ROTATED)];
      const left = [zTXt(10_000), iTXt(10_000), pngChunk('tEXt', Buffer.from('k\0text')), pngChunk('acTL')];
      const bytes = await decoded(pngWith(...left, ...kept, ...left), pieceBytes);
      expect(bytes.equals(pngWith(...kept))).toBe(true);
    },
  );

  // guard hostile-images-2: only one small colour profile of a PNG is kept
  // packages/image-server/src/png-sieve.ts
  // - ['iCCP', 4_096],
  // + ['iCCP', Infinity],
  it('is decoded without the profile when that may inflate to much, or is one of several', async () => {
    const small = iCCP(inflating(1_000));
    expect(chunkTypes(await decoded(pngWith(iCCP(inflating(5_000_000)))))).toEqual(['IHDR', 'IDAT', 'IEND']);
    expect(chunkTypes(await decoded(pngWith(small, small, small)))).toEqual(['IHDR', 'iCCP', 'IDAT', 'IEND']);
  });

  it('is decoded without the bytes after its end', async () => {
    expect((await decoded(Buffer.concat([PNG, zTXt(100), Buffer.alloc(100_000)]))).equals(PNG)).toBe(true);
  });

  // guard hostile-images-3: a PNG consists of a limited number of chunks
  // packages/image-server/src/png-sieve.ts
  // - if (this.chunks > MAX_CHUNKS) done(
  // + if (this.chunks < 0) done(
  it('is refused when it has too many chunks, since each would cost time', async () => {
    const empty = pngChunk('tEXt');
    expect(await upload(pngWith(Buffer.concat(Array<Buffer>(15_000).fill(empty))))).toMatchObject({ status: 200 });
    const { status, json } = await upload(pngWith(Buffer.concat(Array<Buffer>(20_000).fill(empty))));
    expect([status, json]).toMatchObject([400, { message: 'file: must have at most 20000 chunks' }]);
  });

  it.each([
    ['longer than the file', 0x7fffffff],
    ['as long as can be', 0xffffffff],
  ])('is refused when one of its chunks says that it is %s', async (_what, length) => {
    const png = Buffer.from(PNG);
    png.writeUInt32BE(length, 33);
    expect(await upload(png)).toMatchObject({ status: 400 });
    png.writeUInt32BE(length, 8);
    expect(await upload(png)).toMatchObject({ status: 400 });
  });

  it('keeps its colours and stands upright', async () => {
    const wide = await sharp({ create: { width: 3, height: 2, channels: 3, background: 'red' } })
      .withIccProfile('p3')
      .png()
      .toBuffer();
    const { icc } = await sharp(wide).metadata();
    expect(icc).toBeDefined();
    const turned = Buffer.concat([wide.subarray(0, 33), pngChunk('eXIf', ROTATED), wide.subarray(33)]);
    expect(await upload(turned)).toMatchObject({ status: 200 });
    const { data, info } = await sharp(join(server.directory, USER, 'a.png'))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, [...data.subarray(0, 3)]]).toEqual([2, 3, [255, 0, 0]]);
  });
});

describe('an image', () => {
  let server: ImageServer;

  beforeEach(async () => {
    server = await startImageServer({ maxBytes: 5 * MIB });
  });
  afterEach(() => server.close());

  const upload = (file: Buffer, name = 'a.png') =>
    post(server.url, [
      ['token', server.tokenOf(USER)],
      ['key', `${USER}/${name}`],
      ['file', file],
    ]);
  /** Returns the first pixel of the stored image. */
  const colourOf = async (file: Buffer) => {
    expect(await upload(file)).toMatchObject({ status: 200 });
    const { data, info } = await sharp(join(server.directory, USER, 'a.png'))
      .raw()
      .toBuffer({ resolveWithObject: true });
    return [...data.subarray(0, info.channels)].slice(0, 3);
  };
  /** A JPEG and a WebP change colours a little. */
  const nearly = (colour: number[]) => colour.map((value) => expect.closeTo(value, -0.9) as unknown);
  const formats = ['png', 'jpeg', 'webp'] as const;

  describe.each(formats)('with a colour profile: %s', (format) => {
    // guard hostile-images-7: the colour profile of a screen is followed
    // packages/image-server/src/image-decoder.cjs
    // - ignoreIcc: icc !== undefined && !isHarmless(icc)
    // + ignoreIcc: true
    it('comes out in the colours of sRGB', async () => {
      expect(await colourOf(await PROFILED[format](await displayP3Profile()))).toEqual(nearly([215, 93, 32]));
    });

    // guard hostile-images-4: a colour profile of tables and steps is not followed
    // packages/image-server/src/image-decoder.cjs
    // - ignoreIcc: icc !== undefined && !isHarmless(icc)
    // + ignoreIcc: false
    it('is stored at once without a profile that takes hours of work', async () => {
      const bomb = profileWith(await displayP3Profile(), 'D2B0', identitySteps(60_000));
      expect(await colourOf(await PROFILED[format](bomb))).toEqual(nearly(ORANGE));
    });

    // guard hostile-images-5: a colour profile of tables and steps is not followed, however small it is
    // packages/image-server/src/colour-profile.cjs
    // - names.every((name) => TAGS.has(name))
    // + names.every((name) => TAGS.has(name) || name === 'D2B0')
    it('is stored without a profile of more than primaries and curves', async () => {
      expect(
        await colourOf(await PROFILED[format](profileWith(await displayP3Profile(), 'D2B0', identitySteps(10)))),
      ).toEqual(nearly(ORANGE));
    });

    // guard hostile-images-6: a colour profile that is followed is small
    // packages/image-server/src/colour-profile.cjs
    // - profile.length > MAX_BYTES ||
    it('is stored without a profile that is long or has many parts', async () => {
      const long = profileWith(await displayP3Profile(), 'tech', Buffer.alloc(4_096));
      expect(await colourOf(await PROFILED[format](long))).toEqual(nearly(ORANGE));
      let many = await displayP3Profile();
      while (many.readUInt32BE(128) < 65) many = profileWith(many, 'tech', Buffer.alloc(4));
      await server.close();
      server = await startImageServer();
      expect(await colourOf(await PROFILED[format](many))).toEqual(nearly(ORANGE));
    });
  });

  it.each([100, 200])('is stored without a profile that is cut off after %i bytes', async (bytes) => {
    const cut = (await displayP3Profile()).subarray(0, bytes);
    expect(await colourOf(await PROFILED.webp(cut))).toEqual(nearly(ORANGE));
  });

  // guard hostile-images-8: a WebP has a limited number of frames, counted before it is read
  // packages/image-server/src/image-decoder.cjs
  // - (await framesOfWebp(source)) > maxFrames
  // + false
  // guard hostile-images-9: an image has a limited number of frames
  // packages/image-server/src/image-decoder.cjs
  // - if (pages > maxFrames)
  // + if (pages < 0)
  it.each([
    ['a WebP', () => longWebp(1_001)],
    ['a WebP that would take a minute', () => longWebp(137_000)],
    ['a WebP, within its first frame', () => nestedWebp(100_000)],
    ['a GIF', () => longGif(1, 1, 1_001)],
  ])('is refused with more than a thousand frames: %s', async (_what, file) => {
    const { status, json } = await upload(file());
    expect([status, json]).toMatchObject([400, { message: 'file: must have at most 1000 frames' }]);
  });

  it('is accepted with a thousand frames', async () => {
    expect(await upload(await animation('webp', 1_000))).toMatchObject({ status: 200 });
    expect(await upload(longGif(1, 1, 1_000), 'b.gif')).toMatchObject({ status: 200 });
  });
});
