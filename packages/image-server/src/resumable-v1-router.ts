import type { Readable } from 'node:stream';
import { Router, type Request } from 'express';
import { partsUnknown } from './errors';
import type { Host } from './host';
import { body, post } from './http';
import { nameIn } from './image-key';
import { decoded, integer, seconds, type ResumableUploads } from './resumable-uploads';
import { PARTS_LIVE_MS, type Part, type PartedUpload } from './upload-parts';

const BLOCK_BYTES = 4 * 1_024 * 1_024;
const DAY_SECONDS = 86_400;

/**
 * Qiniu's resumable uploads, version 1: a file of blocks, and blocks of chunks. A block's context (`ctx`) is the id of
 * an upload whose parts are the chunks.
 */
export function resumableV1Router(uploads: ResumableUploads, publicUrlOf: Host['publicUrlOf']): Router {
  const router = Router();
  const { parts } = uploads;

  post(router, '/mkblk/:bytes', async (req, res) => {
    const mostBytes = integer('block size', req.params.bytes, 1, BLOCK_BYTES);
    const answer = await uploads.receive(req, async ({ userId }, chunk) => {
      const block = await parts.begin(userId, 'v1');
      try {
        return await put(req, block, { number: 0, mostBytes }, chunk);
      } catch (error) {
        await parts.remove(block);
        throw error;
      }
    });
    res.json(answer);
  });

  post(router, '/bput/:ctx/:offset', async (req, res) => {
    const number = integer('offset', req.params.offset, 1, BLOCK_BYTES - 1);
    const answer = await uploads.receive(req, ({ userId }, chunk) => {
      const block = { userId, version: 'v1', id: String(req.params.ctx) } as const;
      return put(req, block, { number, mostBytes: BLOCK_BYTES - number }, chunk);
    });
    res.json(answer);
  });

  post(router, '/mkfile/:bytes{/*pairs}', body, async (req, res) => {
    const grant = await uploads.admit(req);
    const bytes = integer('file size', req.params.bytes, 1, Number.MAX_SAFE_INTEGER);
    const key = keyIn(req.params.pairs);
    if (key !== undefined) nameIn(key, grant);
    const blocks = [];
    for (const id of contextsIn(req.body)) {
      const upload = { userId: grant.userId, version: 'v1', id } as const;
      blocks.push({ upload, parts: await parts.list(upload) });
    }
    if (sizeOf(blocks.map((block) => block.parts)) !== bytes) throw partsUnknown('v1');
    res.json(await uploads.complete(res, grant, key, blocks));
  });

  async function put(
    req: Request,
    block: PartedUpload,
    wanted: { number: number; mostBytes: number },
    chunk: Readable,
  ) {
    const { number, bytes, etag, crc32 } = await parts.add(block, wanted, chunk);
    return {
      ctx: block.id,
      checksum: etag,
      crc32,
      offset: number + bytes,
      host: publicUrlOf(req),
      // A day too early, since the Node SDK uses a context until a day after this time.
      expired_at: seconds(Date.now() + PARTS_LIVE_MS) - DAY_SECONDS,
    };
  }

  return router;
}

/** Returns the key in a path of alternating names and values. */
function keyIn(pairs: string | string[] | undefined): string | undefined {
  const segments = [pairs ?? []].flat();
  const at = segments.findIndex((name, index) => index % 2 === 0 && name === 'key');
  return at === -1 ? undefined : decoded(segments[at + 1] ?? '');
}

function contextsIn(text: unknown): string[] {
  return Buffer.isBuffer(text) ? text.toString().trim().split(',') : [''];
}

/** Returns the size of all blocks: NaN, which equals no size, when a chunk is missing. */
function sizeOf(blocks: Part[][]): number {
  let size = 0;
  for (const chunks of blocks) {
    let offset = 0;
    for (const { number, bytes } of chunks) offset = number === offset ? offset + bytes : NaN;
    size += offset;
  }
  return size;
}
