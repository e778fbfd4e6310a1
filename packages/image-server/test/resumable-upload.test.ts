import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { request, type ClientRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { conf, httpc, resume_up } from 'qiniu';
import { Refusal } from '../src/errors';
import { ImageRewriter } from '../src/image-rewriter';
import { ImageStore } from '../src/image-store';
import { openQueues } from '../../../src/load/queues';
import { PATIENCE } from '../../../test/support/patience';
import { multipartForm, picture, PNG, pngOf, inspectImage } from '../../../test/support/images';
import { until } from '../../../test/support/until';
import { OpenBook, reasoned, SECRET, startImageServer, tokenWith, type ImageServer } from './image-server';

const MIB = 1_024 * 1_024;
const BLOCK = 4 * MIB;
const MAX_BYTES = 12 * MIB;
const USER = 'user_A-1';
const OTHER = 'user_B-2';

const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest();
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const base64 = (text: string) => Buffer.from(text).toString('base64').replaceAll('+', '-').replaceAll('/', '_');

/** Qiniu's hash of a file. */
function etag(bytes: Buffer): string {
  const blocks = piecesOf(bytes, BLOCK).map(sha1);
  const [only = Buffer.alloc(0), ...more] = blocks;
  const hash = more.length === 0 ? [Buffer.of(0x16), only] : [Buffer.of(0x96), sha1(Buffer.concat(blocks))];
  return Buffer.concat(hash).toString('base64url');
}

function piecesOf(bytes: Buffer, size: number): Buffer[] {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

const BIG = pngOf(2 * BLOCK + 1_000_000);

/** The SDK's client warns of pending requests when a test aborts an upload. */
const { warn } = console;
console.warn = (...said: unknown[]) => {
  if (!String(said[0]).startsWith('[urllib:warn]')) warn(...said);
};

let server: ImageServer;

beforeEach(async () => {
  server = await startImageServer({ maxBytes: MAX_BYTES });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.close();
});

const token = (userId = USER) => server.tokenOf(userId);
const pathOf = (name: string) => join(server.directory, USER, name);
/** The files' names within the uploads folder. */
const stored = async () => {
  const within = `${server.directory}/`;
  return (await server.files()).flatMap((path) => (path.startsWith(within) ? path.slice(within.length) : [])).sort();
};
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
/** Ages the uploads, as if no part had arrived for that time. */
const ageAll = async (minutes: number) => {
  const folder = join(server.directory, '.parts', USER);
  for (const name of await readdir(folder)) await utimes(join(folder, name), minutesAgo(minutes), minutesAgo(minutes));
};

interface Answer {
  status: number;
  json: Record<string, unknown>;
  headers: Headers;
}

interface Sent {
  method?: string;
  body?: Buffer | string;
  headers?: Record<string, string>;
  token?: string | undefined;
  url?: string;
}

/** Sends a request with the headers that SDKs send, and no others. */
async function send(path: string, { method = 'POST', body, headers = {}, url = server.url, ...sent }: Sent = {}) {
  const given = 'token' in sent ? sent.token : token();
  const response = await fetch(url + path, {
    method,
    headers: { ...(given === undefined ? {} : { Authorization: `UpToken ${given}` }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  // Requests without a route are not answered in JSON here.
  const json = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  return reasoned({ status: response.status, json, headers: response.headers } satisfies Answer);
}

const RAW = { 'Content-Type': 'application/octet-stream' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

const mkblk = (bytes: Buffer, size = bytes.length, more: Sent = {}) =>
  send(`/mkblk/${size}`, { body: bytes, headers: RAW, ...more });
const bput = (ctx: unknown, offset: number, bytes: Buffer, more: Sent = {}) =>
  send(`/bput/${String(ctx)}/${offset}`, { body: bytes, headers: RAW, ...more });
const mkfile = (size: number, contexts: unknown[], key?: string, more: Sent = {}) =>
  send(`/mkfile/${size}${key === undefined ? '' : `/key/${base64(key)}`}`, {
    body: contexts.join(','),
    headers: RAW,
    ...more,
  });

const objects = (key?: string) => `/buckets/local/objects/${key === undefined ? '~' : base64(key)}/uploads`;
const begin = async (key?: string, more: Sent = {}) => {
  const { json } = await send(objects(key), more);
  return `${objects(key)}/${String(json.uploadId)}`;
};
const part = (upload: string, number: number, bytes: Buffer, more: Sent = {}) =>
  send(`${upload}/${number}`, { method: 'PUT', body: bytes, headers: { ...RAW, 'Content-MD5': md5(bytes) }, ...more });
const complete = (upload: string, parts: unknown[], more: Sent = {}) =>
  send(upload, { body: JSON.stringify({ parts }), headers: JSON_TYPE, ...more });
const listed = (...pieces: Buffer[]) => pieces.map((bytes, index) => ({ partNumber: index + 1, etag: etag(bytes) }));

/** Upload in any way, in pieces. */
const WAYS = {
  v1: async (key: string | undefined, file: Buffer, more: Sent = {}) => {
    const contexts = [];
    for (const block of piecesOf(file, BLOCK)) contexts.push((await mkblk(block, block.length, more)).json.ctx);
    return mkfile(file.length, contexts, key, more);
  },
  v2: async (key: string | undefined, file: Buffer, more: Sent = {}) => {
    const upload = await begin(key, more);
    const pieces = piecesOf(file, BLOCK);
    for (const [index, bytes] of pieces.entries()) await part(upload, index + 1, bytes, more);
    return complete(upload, listed(...pieces), more);
  },
};
const ways = ['v1', 'v2'] as const;

/** An upload that only has to be completed, and the request that completes it. */
const COMPLETIONS = {
  v1: async () => {
    const { ctx } = (await mkblk(PNG)).json;
    return () => mkfile(PNG.length, [ctx]);
  },
  v2: async () => {
    const upload = await begin();
    await part(upload, 1, PNG);
    return () => complete(upload, listed(PNG));
  },
};

describe.each(ways)('resumable upload by the Qiniu SDK, %s', (version) => {
  const uploader = (url = server.url) => {
    const host = new httpc.Endpoint(new URL(url).host, { defaultScheme: 'http' });
    const regionsProvider = new httpc.Region({ services: { up: [host] } });
    return new resume_up.ResumeUploader(new conf.Config({ useHttpsDomain: false, regionsProvider }));
  };
  const extra = (more: Partial<resume_up.PutExtra> = {}) =>
    Object.assign(resume_up.PutExtra.create('portrait.png', { 'x:album': 'holi/days' }, 'image/png'), {
      version,
      metadata: { 'x-qn-meta-a': 'b' },
      resumeKey: 'record.json',
      ...more,
    });
  const answerOf = async (sending: Promise<resume_up.UploadResult>) => {
    const answer = await sending;
    return { status: answer.resp.statusCode, json: answer.data as unknown };
  };
  const file = async (bytes = BIG) => {
    const path = join(server.directory, '..', 'big.png');
    await writeFile(path, bytes);
    return path;
  };
  const recorder = () => resume_up.createResumeRecorderSync(join(server.directory, '..', 'records'));
  const key = `${USER}/big.png`;
  const whole = { status: 200, json: { key, hash: etag(BIG) } };
  const partsTaken = () => jest.spyOn(server.storage.parts, 'add');

  it.each(['putStream', 'putStreamV2', 'putFile', 'putFileV2'] as const)(
    'by %s stores a file of several blocks under its key',
    async (way) => {
      const path = await file();
      const stream = () => fs.createReadStream(path);
      const sending = way.startsWith('putStream')
        ? uploader()[way as 'putStream'](token(), key, stream(), BIG.length, extra())
        : uploader()[way as 'putFile'](token(), key, path, extra());
      expect(await answerOf(sending)).toEqual(whole);
      expect(await inspectImage(pathOf('big.png'))).toEqual({ format: 'png', width: 1, height: 1 });
      expect(await stored()).toEqual([key]);
    },
  );

  it.each(['putStream', 'putFileWithoutKey'] as const)('by %s stores a file without a key by its hash', async (way) => {
    const path = await file();
    const sending =
      way === 'putStream'
        ? uploader().putStream(token(), null, fs.createReadStream(path), BIG.length, extra())
        : uploader().putFileWithoutKey(token(), path, extra());
    expect(await answerOf(sending)).toEqual({
      status: 200,
      json: { key: `${USER}/${etag(BIG)}.png`, hash: etag(BIG) },
    });
  });

  it('stores a small file, in one part', async () => {
    const sending = uploader().putFile(token(), key, await file(PNG), extra());
    expect(await answerOf(sending)).toEqual({ status: 200, json: { key, hash: etag(PNG) } });
  });

  const breakOff = async (path: string) => {
    const progressCallback = () => {
      throw new Error('the line is cut');
    };
    const broken = uploader().putFile(token(), key, path, extra({ resumeRecorder: recorder(), progressCallback }));
    await expect(broken).rejects.toThrow('the line is cut');
  };
  const goOn = (path: string, url = server.url) =>
    answerOf(uploader(url).putFile(token(), key, path, extra({ resumeRecorder: recorder() })));
  const record = () => join(server.directory, '..', 'records', 'record.json');

  it('goes on from its record after a break, with the parts that are missing', async () => {
    const path = await file();
    await breakOff(path);
    const taken = partsTaken();
    expect(await goOn(path)).toEqual(whole);
    expect(taken).toHaveBeenCalledTimes(2);
    expect(await readdir(join(server.directory, '..', 'records'))).toEqual([]);
  });

  it('goes on at another instance, which shares the disk', async () => {
    const path = await file();
    await breakOff(path);
    const other = await startImageServer({ maxBytes: MAX_BYTES, directory: server.directory });
    try {
      // The record names the host that it was made at.
      const written = await readFile(record(), 'utf8');
      await writeFile(record(), written.replaceAll(new URL(server.url).host, new URL(other.url).host));
      const taken = jest.spyOn(other.storage.parts, 'add');
      expect(await goOn(path, other.url)).toEqual(whole);
      expect(taken).toHaveBeenCalledTimes(2);
    } finally {
      await other.close();
    }
  });

  it('starts again when its record names expired parts', async () => {
    const path = await file();
    await breakOff(path);
    await ageAll(46);
    const later = (name: string, at: string) => `"${name}":${Number(at) - 46 * 60}`;
    const written = await readFile(record(), 'utf8');
    await writeFile(
      record(),
      written.replace(/"(expired_?[aA]t)":(\d+)/g, (_all, name: string, at: string) => later(name, at)),
    );
    expect(await goOn(path)).toEqual(whole);
    await server.storage.sweep();
    expect(await stored()).toEqual([key]);
  });

  // guard resumable-upload-22: uploads are refused with a reason of their status
  // packages/image-server/src/errors.ts
  // - version === 'v1' ? 'unknown_blocks' : 'unknown_upload'
  // + version === 'v1' ? 'unknown_upload' : 'unknown_blocks'
  it('is told when its parts are no longer known', async () => {
    const path = await file();
    await breakOff(path);
    await ageAll(46);
    expect(await goOn(path)).toMatchObject({
      status: version === 'v1' ? 701 : 612,
      json: { code: expect.anything() as unknown },
    });
  });

  it('reads the reason of a refusal', async () => {
    const { status, json } = await answerOf(uploader().putFile(token(), 'someone/a.png', await file(), extra()));
    expect([status, json]).toMatchObject([403, { error: expect.stringContaining('key:') as unknown }]);
  });
});

describe('resumable upload, as sent by', () => {
  const key = `${USER}/a.png`;

  it('the Android SDK, v1: chunks of 2 MiB, and a name of the file that is empty', async () => {
    const chunks = piecesOf(BIG, 2 * MIB);
    const contexts: unknown[] = [];
    for (const [index, chunk] of chunks.entries()) {
      const size = Math.min(BLOCK, BIG.length - Math.floor(index / 2) * BLOCK);
      const { status, json, headers } =
        index % 2 === 0 ? await mkblk(chunk, size) : await bput(contexts.pop(), 2 * MIB, chunk);
      expect({ status, crc32: json.crc32 }).toEqual({ status: 200, crc32: crc32(chunk) });
      expect(json).toMatchObject({
        offset: (index % 2) * 2 * MIB + chunk.length,
        host: server.url,
        checksum: etag(chunk),
        expired_at: expect.any(Number) as unknown,
      });
      expect(headers.get('X-Reqid')).toMatch(/./);
      contexts.push(json.ctx);
    }
    const path = `/mkfile/${BIG.length}/mimeType/${base64('image/png')}/key/${base64(key)}/x:a/${base64('b')}/fname/`;
    const { status, json } = await send(path, { body: contexts.join(','), headers: RAW });
    expect([status, json]).toEqual([200, { key, hash: etag(BIG) }]);
    expect(await stored()).toEqual([key]);
  });

  it('the Java SDK, v1: the key after the name of the file', async () => {
    const { json } = await mkblk(PNG);
    const path = `/mkfile/${PNG.length}/mimeType/${base64('image/png')}/fname/${base64('key')}/key/${base64(key)}`;
    expect((await send(path, { body: String(json.ctx), headers: RAW })).json).toEqual({ key, hash: etag(PNG) });
  });

  it('the Android and Java SDKs, v2: without Content-MD5, completed as application/octet-stream', async () => {
    const begun = await send(objects(key), { headers: RAW });
    expect(begun).toMatchObject({ status: 200, json: { expireAt: expect.any(Number) as unknown } });
    expect(String(begun.json.uploadId).length).toBeGreaterThan(10);
    const upload = `${objects(key)}/${String(begun.json.uploadId)}`;
    const pieces = piecesOf(BIG, 2 * MIB);
    for (const [index, bytes] of pieces.entries()) {
      const { json } = await send(`${upload}/${index + 1}`, { method: 'PUT', body: bytes, headers: RAW });
      expect(json).toEqual({ etag: etag(bytes), md5: md5(bytes) });
    }
    const metaData = { 'x-qn-meta-a': 'b' };
    const body = {
      parts: listed(...pieces),
      fname: 'a.png',
      mimeType: 'image/png',
      customVars: { 'x:a': 'b' },
      metaData,
    };
    const { status, json } = await send(upload, { body: JSON.stringify(body), headers: RAW });
    expect([status, json]).toEqual([200, { key, hash: etag(BIG) }]);
    expect(await stored()).toEqual([key]);
  });

  it('the browser SDK, v2: three parts at once, in any order', async () => {
    const upload = await begin(undefined, { headers: {} });
    const pieces = piecesOf(BIG, BLOCK);
    const sent = pieces.map((bytes, index) => part(upload, index + 1, bytes));
    for (const { status } of await Promise.all(sent.reverse())) expect(status).toBe(200);
    const { json } = await complete(upload, listed(...pieces));
    expect(json).toEqual({ key: `${USER}/${etag(BIG)}.png`, hash: etag(BIG) });
  });

  it('a client that does not say how long a part is', async () => {
    const upload = await begin(key);
    const sending = request(`${server.url}${upload}/1`, {
      method: 'PUT',
      headers: { ...RAW, Authorization: `UpToken ${token()}`, 'Transfer-Encoding': 'chunked' },
    });
    const status = new Promise((resolve) => sending.on('response', (response) => resolve(response.statusCode)));
    sending.write(PNG.subarray(0, 20));
    sending.end(PNG.subarray(20));
    expect(await status).toBe(200);
    expect((await complete(upload, listed(PNG))).status).toBe(200);
  });

  it('a client that aborts', async () => {
    const upload = await begin(key);
    await part(upload, 1, PNG);
    expect(await send(upload, { method: 'DELETE' })).toMatchObject({ status: 200 });
    expect(await stored()).toEqual([]);
    expect((await part(upload, 1, PNG)).status).toBe(612);
  });

  it('a client that sends a part again: another one replaces it, the same one may be sent twice', async () => {
    const upload = await begin(key);
    for (const bytes of [pngOf(MAX_BYTES), pngOf(MAX_BYTES), PNG])
      expect((await part(upload, 1, bytes)).status).toBe(200);
    expect(await complete(upload, listed(PNG))).toMatchObject({ status: 200, json: { hash: etag(PNG) } });
  });
});

describe('resumable upload', () => {
  const key = `${USER}/a.png`;

  it.each(ways)('takes the same image again, and answers 614 to another one: %s', async (way) => {
    for (let i = 0; i < 2; i += 1) expect((await WAYS[way](key, PNG)).status).toBe(200);
    expect(await WAYS[way](key, await picture('png', 7))).toMatchObject({
      status: 614,
      json: { code: 614, error: expect.stringContaining('another image') as unknown },
    });
    expect(await stored()).toEqual([key]);
  });

  it('is completed once, whole, by many who try at once', async () => {
    const upload = await begin(key);
    await part(upload, 1, PNG);
    const answers = await Promise.all(Array.from({ length: 10 }, () => complete(upload, listed(PNG))));
    expect(answers.filter(({ status }) => ![200, 612].includes(status))).toEqual([]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(await stored()).toEqual([key]);
  });

  it('has parts that only the owner of the process can read', async () => {
    await part(await begin(key), 1, PNG);
    const [path = ''] = await server.files();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  // guard resumable-upload-12: a part is on the disk before it is acknowledged
  // packages/image-server/src/upload-parts.ts
  // - await flushFile(path);
  it('has parts that are on the disk before they are answered', async () => {
    const handle = await fs.promises.open(tmpdir());
    const sync = jest.spyOn(Object.getPrototypeOf(handle) as { sync(): Promise<void> }, 'sync');
    await handle.close();
    const upload = await begin(key);
    await part(upload, 1, PNG);
    expect(sync).toHaveBeenCalledTimes(1);
  });

  describe('of somebody else', () => {
    const others = () => ({ token: token(OTHER) });

    // guard resumable-upload-2: parts belong to the user who sent them
    // packages/image-server/src/upload-parts.ts
    // - return join(this.directory, userId, `${version}.${id}${
    // + return join(this.directory, `${version}.${id}${
    it('cannot be added to, completed or aborted: v2', async () => {
      const upload = await begin();
      await part(upload, 1, PNG);
      const before = await stored();
      expect((await part(upload, 1, pngOf(100), others())).status).toBe(612);
      expect((await complete(upload, listed(PNG), others())).status).toBe(612);
      await send(upload, { method: 'DELETE', ...others() });
      expect(await stored()).toEqual(before);
      for (const path of before) expect((await fetch(`${server.url}/files/${path}`)).status).toBe(404);
      expect((await complete(upload, listed(PNG))).status).toBe(200);
    });

    it('cannot be added to or completed: v1', async () => {
      const chunk = PNG.subarray(0, 40);
      const { ctx } = (await mkblk(chunk, PNG.length)).json;
      const before = await stored();
      expect((await bput(ctx, 40, PNG.subarray(40), others())).status).toBe(701);
      expect((await mkfile(40, [ctx], undefined, others())).status).toBe(701);
      expect(await stored()).toEqual(before);
    });
  });

  // guard resumable-upload-3: the id of an upload in parts is checked before it is part of a path
  // packages/image-server/src/upload-parts.ts
  // - if (!UPLOAD_ID.test(id)) throw partsUnknown(version);
  it.each(['', '..', '../..', '..%2F..', '.', 'x', '%00', 'a/b', '0'.repeat(36), `${'0'.repeat(35)}/`])(
    'is unknown by the id %p',
    async (id) => {
      await part(await begin(), 1, PNG);
      const before = await stored();
      for (const answer of [
        await mkfile(PNG.length, [id]),
        await bput(encodeURIComponent(id || 'x'), 40, PNG),
        await part(`${objects()}/${encodeURIComponent(id || 'x')}`, 1, PNG),
        await complete(`${objects()}/${encodeURIComponent(id || 'x')}`, listed(PNG)),
        await send(`${objects()}/${encodeURIComponent(id || 'x')}`, { method: 'DELETE' }),
      ])
        expect([200, 400, 404, 405, 612, 701]).toContain(answer.status);
      expect(await stored()).toEqual(before);
    },
  );

  // guard resumable-upload-4: parts of one version of the protocol are unknown to the other
  // packages/image-server/src/upload-parts.ts
  // - `${version}.${id}${
  // + `any.${id}${
  it('is unknown in the other version, which counts uploads at another step', async () => {
    const { ctx } = (await mkblk(PNG)).json;
    expect((await part(`${objects()}/${String(ctx)}`, 1, PNG)).status).toBe(612);
    const upload = await begin();
    expect((await bput(upload.split('/').at(-1), 1, PNG)).status).toBe(701);
  });

  describe('is refused', () => {
    const expiredToken = () => {
      const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 601_000);
      const expired = token();
      clock.mockRestore();
      return expired;
    };

    it.each([
      ['POST', '/mkblk/100'],
      ['POST', '/bput/x/1'],
      ['POST', '/mkfile/100'],
      ['POST', objects()],
      ['PUT', `${objects()}/x/1`],
      ['POST', `${objects()}/x`],
      ['DELETE', `${objects()}/x`],
    ])('without a good token: %s %s', async (method, path) => {
      const body = method === 'DELETE' ? {} : { body: '{}' };
      const forged = token().replace(/.$/, 'A');
      for (const given of [undefined, '', 'nonsense', forged, `${token()} x`]) {
        const answer = await send(path, { method, ...body, token: given });
        expect(answer).toMatchObject({ status: 401, json: { code: 401, error: expect.any(String) as unknown } });
        expect(answer.headers.get('X-Reqid')).toMatch(/./);
      }
      expect((await send(path, { method, ...body, token: expiredToken() })).status).toBe(401);
      expect(await stored()).toEqual([]);
    });

    it('when its token expires before the end; another token completes it', async () => {
      const upload = await begin(key);
      await part(upload, 1, PNG);
      expect((await complete(upload, listed(PNG), { token: expiredToken() })).status).toBe(401);
      expect((await complete(upload, listed(PNG))).status).toBe(200);
      const { ctx } = (await mkblk(PNG)).json;
      expect((await mkfile(PNG.length, [ctx], key, { token: expiredToken() })).status).toBe(401);
      expect((await mkfile(PNG.length, [ctx], key)).status).toBe(200);
    });

    it('but not for a token that an older secret signed', async () => {
      const given = tokenWith('an old secret', USER, MAX_BYTES);
      const rotated = await startImageServer({ maxBytes: MAX_BYTES, secrets: [SECRET, 'an old secret'] });
      for (const way of ways) expect((await WAYS[way](key, PNG, { token: given, url: rotated.url })).status).toBe(200);
      await rotated.close();
    });

    it.each([
      ['a way up', `${USER}/../evil.png`, 400],
      ['an absolute path', '/etc/passwd', 400],
      ['a NUL', `${USER}/a\0.png`, 400],
      ['nothing in it', '', 400],
      ['the folder of parts', '.parts/a.png', 400],
      ["another user's prefix", `${OTHER}/a.png`, 403],
    ])('for a key with %s', async (_what, bad, status) => {
      const { ctx } = (await mkblk(PNG)).json;
      expect((await mkfile(PNG.length, [ctx], bad)).status).toBe(status);
      // A path segment cannot be empty.
      expect((await send(objects(bad))).status).toBe(bad === '' ? 404 : status);
      const upload = (await begin()).replace('~', base64(bad));
      await part(upload, 1, PNG);
      expect((await complete(upload, listed(PNG))).status).toBe(bad === '' ? 404 : status);
      expect((await stored()).filter((path) => !path.startsWith('.parts/'))).toEqual([]);
    });

    // guard resumable-upload-17: parts that do not make an image are removed at once
    // packages/image-server/src/resumable-uploads.ts
    // - Number(error.status) < 500 || Number(error.status) > 599
    // + Number(error.status) === 0
    it.each(ways)('when it is not an image, and its parts are removed: %s', async (way) => {
      const page = Buffer.from('<!doctype html><script>alert(1)</script>');
      expect(await WAYS[way](key, page)).toMatchObject({ status: 400, json: { code: 400 } });
      expect(await WAYS[way](key, Buffer.concat([PNG.subarray(0, 40), Buffer.alloc(100)]))).toMatchObject({
        status: 400,
      });
      expect(await stored()).toEqual([]);
    });

    // guard resumable-upload-11: a part that does not match its checksum is refused
    // packages/image-server/src/upload-parts.ts
    // - if (md5 !== undefined && md5 !== sums.md5)
    // + if (md5 === '')
    it('when a part does not match its checksum, and the part is not stored', async () => {
      const upload = await begin();
      const headers = { ...RAW, 'Content-MD5': md5(pngOf(100)) };
      expect((await part(upload, 1, PNG, { headers })).status).toBe(406);
      expect(await stored()).toEqual([]);
      expect((await part(upload, 1, PNG, { headers: { 'Content-MD5': md5(PNG).toUpperCase() } })).status).toBe(200);
    });

    it.each([
      ['a part that was never sent', [{ partNumber: 2, etag: etag(PNG) }], 612],
      ['other bytes than were sent', [{ partNumber: 1, etag: etag(pngOf(100)) }], 612],
      ['no part', [], 400],
      ['a part without a number', [{ etag: etag(PNG) }], 400],
      ['a number that is not a number', [{ partNumber: '1', etag: etag(PNG) }], 400],
      ['a way up', [{ partNumber: 1, etag: '../../x' }], 612],
    ])('when it is completed with %s', async (_what, parts, status) => {
      const upload = await begin();
      await part(upload, 1, PNG);
      expect((await complete(upload, parts)).status).toBe(status);
      expect((await complete(upload, listed(PNG))).status).toBe(200);
    });

    it.each(['', 'nonsense', '[]', 'null', `{"parts":[${'{},'.repeat(10_000)}{}]}`])(
      'when it is completed with an invalid body',
      async (body) => {
        const upload = await begin();
        expect([400, 413]).toContain((await send(upload, { body, headers: JSON_TYPE })).status);
      },
    );

    // guard resumable-upload-21: a block with a missing chunk is refused
    // packages/image-server/src/resumable-v1-router.ts
    // - number === offset ? offset + bytes : NaN
    // + offset + bytes
    it('when a chunk of a block is missing, or the size is another one', async () => {
      const [one, two] = [PNG.subarray(0, 40), PNG.subarray(40)];
      const { ctx } = (await mkblk(one, PNG.length)).json;
      expect((await mkfile(PNG.length, [ctx])).status).toBe(701);
      await bput(ctx, 41, two);
      expect((await mkfile(PNG.length, [ctx])).status).toBe(701);
      expect((await mkfile(PNG.length + 1, [ctx])).status).toBe(701);
      const whole = (await mkblk(PNG)).json.ctx;
      expect((await mkfile(PNG.length - 1, [whole])).status).toBe(701);
      expect((await mkfile(PNG.length, [whole])).status).toBe(200);
    });

    it.each([
      '/mkblk/0',
      `/mkblk/${BLOCK + 1}`,
      '/mkblk/x',
      '/mkblk/-1',
      '/mkblk/1e3',
      '/bput/x/0',
      `/bput/x/${BLOCK}`,
    ])('for its numbers: %s', async (path) => {
      expect((await send(path, { body: PNG, headers: RAW })).status).toBe(400);
      expect(await stored()).toEqual([]);
    });

    it.each([0, 10_001, 'x', '-1', '1.5'])('for the part number %s', async (number) => {
      const upload = await begin();
      expect((await part(upload, number as number, PNG)).status).toBe(400);
      expect(await stored()).toEqual([]);
    });

    it('for the bucket of somebody else', async () => {
      expect((await send('/buckets/other/objects/~/uploads')).status).toBe(404);
    });

    it.each([
      ['GET', '/mkblk/5', 'POST'],
      ['PUT', '/mkfile/5', 'POST'],
      ['POST', `${objects()}/x/1`, 'PUT'],
      ['GET', `${objects()}/x`, 'POST, DELETE'],
    ])('by another method: %s %s', async (method, path, allow) => {
      const { status, headers } = await send(path, { method });
      expect([status, headers.get('Allow')]).toEqual([405, allow]);
    });

    // guard resumable-upload-13: parts are refused while little of the disk is free
    // packages/image-server/src/upload-parts.ts
    // - await needRoom(this.options);
    it('when less would stay free on the disk than configured', async () => {
      await server.close();
      server = await startImageServer({ maxBytes: MAX_BYTES, minFreeBytes: 1e18 });
      expect(await mkblk(PNG)).toMatchObject({
        status: 503,
        json: { error: expect.stringContaining('no room') as unknown },
      });
      expect((await part(await begin(), 1, PNG)).status).toBe(503);
      expect(await stored()).toEqual([]);
    });
  });

  describe('is limited', () => {
    const LIMIT = 1_000_000;

    beforeEach(async () => {
      await server.close();
      server = await startImageServer({ maxBytes: LIMIT });
    });

    const sizes = async () => {
      const paths = (await server.files()).filter((path) => path.includes('/.parts/'));
      return (await Promise.all(paths.map(async (path) => (await stat(path)).size))).reduce((a, b) => a + b, 0);
    };

    it('to the bytes of an image, over all its parts', async () => {
      const upload = await begin();
      expect((await part(upload, 1, pngOf(LIMIT + 1))).status).toBe(413);
      expect((await part(upload, 1, pngOf(LIMIT - 100))).status).toBe(200);
      expect(await part(upload, 2, Buffer.alloc(101))).toMatchObject({ status: 413, json: { code: 413 } });
      expect((await part(upload, 2, Buffer.alloc(100))).status).toBe(200);
      expect(await sizes()).toBe(LIMIT);
      const { ctx } = (await mkblk(pngOf(LIMIT - 100), LIMIT)).json;
      expect((await bput(ctx, LIMIT - 100, Buffer.alloc(101))).status).toBe(413);
      const more = (await mkblk(Buffer.alloc(101))).json.ctx;
      expect((await mkfile(LIMIT + 1, [ctx, more])).status).toBe(413);
      expect((await complete(upload, listed(pngOf(LIMIT - 100), Buffer.alloc(100)))).status).toBe(200);
    });

    // guard resumable-upload-5: all parts of an upload together are limited while they arrive
    // packages/image-server/src/upload-parts.ts
    // - Math.min(wanted.mostBytes ?? Infinity, await this.bytesLeft(upload, number))
    // + wanted.mostBytes ?? Infinity
    it('to these bytes while they come, before they are on the disk', async () => {
      const upload = await begin();
      const sending = request(`${server.url}${upload}/1`, {
        method: 'PUT',
        headers: { ...RAW, Authorization: `UpToken ${token()}`, 'Content-Length': 100 * LIMIT },
      });
      sending.on('error', () => {});
      const status = new Promise((resolve) => sending.on('response', (response) => resolve(response.statusCode)));
      sending.write(Buffer.alloc(LIMIT + 1));
      expect(await status).toBe(413);
      expect(await stored()).toEqual([]);
      sending.destroy();
    });

    // guard resumable-upload-6: simultaneous parts are limited too
    // packages/image-server/src/upload-parts.ts
    // - if (!isTooLarge && (await this.roomOf(upload.userId)) >= 0) return;
    // + return;
    it('to these bytes, also by parts at once', async () => {
      const upload = await begin();
      const bytes = Buffer.alloc(0.4 * LIMIT);
      const sent = Array.from({ length: 10 }, (_, i) => part(upload, i + 1, bytes));
      for (const { status } of await Promise.all(sent)) expect([200, 413]).toContain(status);
      expect(await sizes()).toBeLessThanOrEqual(LIMIT);
    });

    it('to blocks of their size', async () => {
      expect((await mkblk(Buffer.alloc(101), 100)).status).toBe(413);
      const { ctx } = (await mkblk(Buffer.alloc(100), 200)).json;
      expect((await bput(ctx, BLOCK - 10, Buffer.alloc(11))).status).toBe(413);
    });

    // guard resumable-upload-7: a user has a few uploads in parts under way
    // packages/image-server/src/upload-parts.ts
    // - let room = this.mostBytesPerUser;
    // + let room = Infinity;
    it('to ten incomplete ones of full size per user', async () => {
      for (let i = 0; i < 10; i += 1) expect((await part(await begin(), 1, pngOf(LIMIT))).status).toBe(200);
      const refused = await part(await begin(), 1, pngOf(LIMIT));
      expect([refused.status, Number(refused.headers.get('Retry-After'))]).toEqual([429, 2_700]);
      expect((await mkblk(pngOf(LIMIT))).status).toBe(429);
      const others = { token: token(OTHER) };
      expect((await part(await begin(undefined, others), 1, pngOf(LIMIT), others)).status).toBe(200);
    });

    // guard resumable-upload-8: a small part counts as a whole file
    // packages/image-server/src/upload-parts.ts
    // - Math.max(bytes, LEAST_BYTES)
    // + bytes
    it('in their number too, however small they are', async () => {
      await server.close();
      server = await startImageServer({ maxBytes: 100_000 });
      const upload = await begin();
      let status = 200;
      let count = 0;
      for (; status === 200 && count < 1_000; count += 1)
        status = (await part(upload, count + 1, Buffer.from([count]))).status;
      expect([status, count]).toEqual([429, expect.any(Number)]);
      expect(count).toBeLessThan(50);
      expect(await send(objects())).toMatchObject({ status: 429 });
      expect((await mkblk(PNG)).status).toBe(429);
    });

    // guard resumable-upload-14: parts being sent take one of a few places of their user
    // src/load/queues.ts
    // - atOnce: 128, share: 12,
    // + atOnce: 128, share: 128,
    it('to twelve parts per user that are being sent', async () => {
      const upload = await begin();
      const begun = Array.from({ length: 12 }, (_, i) => {
        const sending = request(`${server.url}${upload}/${i + 1}`, {
          method: 'PUT',
          headers: { ...RAW, Authorization: `UpToken ${token()}`, 'Content-Length': 1_000 },
        });
        sending.on('error', () => {});
        sending.write(Buffer.alloc(500));
        return sending;
      });
      await until(async () => (await stored()).length === 12);
      expect(await part(upload, 13, PNG)).toMatchObject({ status: 503 });
      const others = { token: token(OTHER) };
      expect((await part(await begin(undefined, others), 1, PNG, others)).status).toBe(200);
      for (const sending of begun) sending.destroy();
      await until(async () => (await stored()).length === 1);
      expect((await part(upload, 13, PNG)).status).toBe(200);
    });

    // guard resumable-upload-15: files that are made from their parts do not take places of parts
    // packages/image-server/src/resumable-uploads.ts
    // - this.queues.uploadFiles.take(grant.userId,
    // + this.queues.uploadParts.take(grant.userId,
    it('to ten files per user that are made from their parts at once', async () => {
      const goOn: (() => void)[] = [];
      jest.spyOn(server.storage, 'keep').mockImplementation(async () => {
        await new Promise<void>((resolve) => goOn.push(resolve));
        return { key: '', hash: '' };
      });
      const uploads: string[] = [];
      for (let i = 0; i < 11; i += 1) {
        uploads.push(await begin());
        await part(uploads[i] ?? '', 1, PNG);
      }
      const statuses: number[] = [];
      const asked = uploads.map(async (upload) => statuses.push((await complete(upload, listed(PNG))).status));
      await until(() => statuses.length + goOn.length === 11);
      for (const one of goOn) one();
      await Promise.all(asked);
      expect(statuses.sort()).toEqual([...Array<number>(10).fill(200), 503]);
    });

    // guard resumable-upload-16: when all places for files of parts are taken, a user with many loses one
    // packages/image-server/src/resumable-uploads.ts
    // - , { abort: () => gone.abort() }
    it('to 128 waiting files in all: a user with many loses one, with its parts, to a user with none', async () => {
      let waiting = 0;
      jest.spyOn(server.storage, 'keep').mockImplementation(async (_image, { userId }, _key, { gone }) => {
        if (userId === OTHER) return { key: '', hash: '' };
        waiting += 1;
        return new Promise((_resolve, reject) =>
          gone.addEventListener('abort', () => reject(new Refusal('uploads_busy', 'it has waited in vain'))),
        );
      });
      const statuses: number[] = [];
      for (let i = 0; i < 128; i += 1) {
        const theirs = { token: token(`crowd_${Math.floor(i / 10)}`) };
        const { ctx } = (await mkblk(PNG, PNG.length, theirs)).json;
        mkfile(PNG.length, [ctx], undefined, theirs).then(
          ({ status }) => statuses.push(status),
          () => {},
        );
      }
      await until(() => waiting === 128);
      const claimed = async () => (await stored()).filter((path) => path.includes('.claimed/'));
      expect(await claimed()).toHaveLength(128);
      const theirs = { token: token(OTHER) };
      const { ctx } = (await mkblk(PNG, PNG.length, theirs)).json;
      expect((await mkfile(PNG.length, [ctx], undefined, theirs)).status).toBe(200);
      await until(() => statuses.length > 0);
      expect(statuses).toEqual([503]);
      expect(await claimed()).toHaveLength(127);
      expect((await stored()).filter((path) => path.startsWith('.parts/'))).toHaveLength(128);
    });

    // guard resumable-upload-1: when all places for parts are taken, a user with many loses one
    // packages/image-server/src/resumable-uploads.ts
    // - , { abort: (reason) => part.destroy(reason) }
    it('to 128 parts being sent in all: a user with many loses one to a user with none', async () => {
      const users = Array.from({ length: 11 }, (_, i) => `crowd_${i}`);
      const statuses: (number | undefined)[] = [];
      const begun: ClientRequest[] = [];
      for (const user of users) {
        const theirs = { token: token(user) };
        const upload = await begin(undefined, theirs);
        for (let i = 0; i < 12 && begun.length < 128; i += 1) {
          const sending = request(`${server.url}${upload}/${i + 1}`, {
            method: 'PUT',
            headers: { ...RAW, Authorization: `UpToken ${theirs.token}`, 'Content-Length': 1_000 },
          });
          sending.on('error', () => {});
          sending.on('response', ({ statusCode }) => statuses.push(statusCode));
          sending.write(Buffer.alloc(500));
          begun.push(sending);
        }
      }
      await until(async () => (await stored()).length === 128, 300_000);
      expect((await part(await begin(), 1, PNG)).status).toBe(200);
      await until(() => statuses.length === 1);
      expect(statuses).toEqual([503]);
      for (const sending of begun) sending.destroy();
      await until(async () => (await stored()).length === 1);
    });
  });

  describe('that is completed many times at once', () => {
    // guard resumable-upload-18: an upload in parts that is completed many times at once is decoded once
    // packages/image-server/src/resumable-uploads.ts
    // - await parts.claim(pieces)
    // + pieces
    it.each([
      ['v1', 701],
      ['v2', 612],
    ] as const)('is decoded once, and unknown to the others: %s', async (way, unknown) => {
      const again = await COMPLETIONS[way]();
      const keep = jest.spyOn(server.storage, 'keep');
      // As many as a user may have at once.
      const statuses = (await Promise.all(Array.from({ length: 10 }, again))).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, ...Array<number>(9).fill(unknown)]);
      expect(keep).toHaveBeenCalledTimes(1);
    });

    // guard resumable-upload-20: blocks are claimed all together, or none
    // packages/image-server/src/upload-parts.ts
    // - await this.unclaim(claimed);
    it('leaves its other blocks to the request that gets all of them', async () => {
      const [one, two] = [PNG.subarray(0, 40), PNG.subarray(40)];
      const [first, second] = [(await mkblk(one)).json.ctx, (await mkblk(two)).json.ctx];
      const piece = (ctx: unknown) =>
        ({ upload: { userId: USER, version: 'v1', id: String(ctx) }, parts: [] }) as const;
      const { parts } = server.storage;
      const claimed = await parts.claim([piece(second)]);
      expect((await mkfile(PNG.length, [first, second], key)).status).toBe(701);
      await expect(parts.claim([piece(first), piece(second)])).rejects.toHaveProperty('reason', 'unknown_blocks');
      await parts.unclaim(claimed);
      expect((await mkfile(PNG.length, [first, second], key)).status).toBe(200);
    });
  });

  describe('that does not complete', () => {
    // guard resumable-upload-9: parts of an upload that is never completed are removed
    // packages/image-server/src/upload-parts.ts
    // - if ((await ageOf(folder)) > PARTS_LIVE_MS) await this.discard(folder);
    // guard resumable-upload-10: parts that have expired are not used
    // packages/image-server/src/upload-parts.ts
    // - if ((await ageOf(folder)) > PARTS_LIVE_MS) throw
    // + if (folder === '') throw
    it('is removed within the hour, also by another process, and not while it may go on', async () => {
      const upload = await begin();
      await part(upload, 1, PNG);
      await mkblk(PNG);
      const options = { directory: server.directory, maxBytes: MAX_BYTES, maxBytesPerUser: 0, minFreeBytes: 0 };
      const restarted = new ImageStore(
        { ...options, secrets: [SECRET] },
        new OpenBook(),
        new ImageRewriter(openQueues(PATIENCE).decoding),
        { add: () => undefined },
      );
      await ageAll(44);
      await restarted.sweep();
      expect(await stored()).toHaveLength(2);
      await ageAll(46);
      expect((await complete(upload, listed(PNG))).status).toBe(612);
      await restarted.sweep();
      expect(await stored()).toEqual([]);
      expect(await readdir(join(server.directory, '.parts'))).toEqual([]);
    });

    it('leaves nothing of a folder that was being removed', async () => {
      const folder = join(server.directory, '.incoming', 'half');
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'part'), PNG);
      await utimes(folder, minutesAgo(120), minutesAgo(120));
      await server.storage.sweep();
      expect(await stored()).toEqual([]);
    });

    it.each(['mkblk', 'part'])('leaves no %s on the disk when the client goes away', async (what) => {
      const upload = await begin();
      const sending = request(`${server.url}${what === 'part' ? `${upload}/1` : '/mkblk/1000'}`, {
        method: what === 'part' ? 'PUT' : 'POST',
        headers: { ...RAW, Authorization: `UpToken ${token()}`, 'Content-Length': 1_000 },
      });
      sending.on('error', () => {});
      sending.write(PNG);
      await until(async () => (await stored()).length === 1);
      sending.destroy();
      await until(async () => (await stored()).length === 0);
      await until(async () => (await readdir(join(server.directory, '.parts', USER))).length === 1);
    });

    it('is answered with 408 when a part stops in the middle', async () => {
      await server.close();
      server = await startImageServer({ uploadTimeoutMs: 200 });
      const upload = await begin();
      const sending = request(`${server.url}${upload}/1`, {
        method: 'PUT',
        headers: { ...RAW, Authorization: `UpToken ${token()}`, 'Content-Length': 1_000 },
      });
      sending.on('error', () => {});
      const status = new Promise((resolve) => sending.on('response', (response) => resolve(response.statusCode)));
      sending.write(PNG);
      expect(await status).toBe(408);
      expect(await stored()).toEqual([]);
      sending.destroy();
    });

    // guard resumable-upload-19: parts are available again when their image could not be stored for now
    // packages/image-server/src/resumable-uploads.ts
    // - else await parts.unclaim(claimed);
    it.each(ways)('can be completed later when the disk was full: %s', async (way) => {
      const again = await COMPLETIONS[way]();
      jest.spyOn(server.storage, 'receive').mockRejectedValueOnce(Object.assign(new Error('EIO'), { code: 'EIO' }));
      expect((await again()).status).toBe(500);
      expect((await again()).status).toBe(200);
    });

    it('is removed within the hour when the process that made an image of it was killed', async () => {
      const upload = await begin(key);
      await part(upload, 1, PNG);
      const known = { userId: USER, version: 'v2', id: upload.split('/').at(-1) ?? '' } as const;
      await server.storage.parts.claim([{ upload: known, parts: [] }]);
      expect((await complete(upload, listed(PNG))).status).toBe(612);
      expect(await stored()).toHaveLength(1);
      await ageAll(46);
      await server.storage.sweep();
      expect(await stored()).toEqual([]);
    });
  });

  it('does not disturb the form', async () => {
    const { headers, body } = multipartForm([
      ['token', token()],
      ['key', key],
      ['file', PNG],
    ]);
    const answer = await send('/', { headers, body, token: undefined });
    expect(answer).toMatchObject({ status: 200, json: { key, hash: etag(PNG) } });
  });
});
