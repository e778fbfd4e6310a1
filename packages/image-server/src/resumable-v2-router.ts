import { Router } from 'express';
import { z } from 'zod';
import { partsUnknown, Refusal } from './errors';
import { body, jsonOf, methods, post } from './http';
import { nameIn } from './image-key';
import { decoded, integer, seconds, type ResumableUploads } from './resumable-uploads';
import { PARTS_LIVE_MS } from './upload-parts';
import { BUCKET, type UploadGrant } from './upload-token';

const UPLOADS = `/buckets/${BUCKET}/objects/:key/uploads`;
const MOST_PARTS = 10_000;

const completion = z.object({
  parts: z.array(z.object({ partNumber: z.int().min(1).max(MOST_PARTS), etag: z.string() })).min(1),
});

/** Qiniu's resumable uploads, version 2: an upload is begun, gets its numbered parts, and is completed or aborted. */
export function resumableV2Router(uploads: ResumableUploads): Router {
  const router = Router();
  const { parts } = uploads;

  post(router, UPLOADS, async (req, res) => {
    const grant = await uploads.admit(req);
    keyIn(req.params, grant);
    const { id } = await parts.begin(grant.userId, 'v2');
    res.json({ uploadId: id, expireAt: seconds(Date.now() + PARTS_LIVE_MS) });
  });

  methods(router, `${UPLOADS}/:uploadId/:part`, {
    put: [
      async (req, res) => {
        const number = integer('part number', req.params.part, 1, MOST_PARTS);
        const md5 = req.get('Content-MD5')?.toLowerCase();
        const part = await uploads.receive(req, (grant, bytes) =>
          parts.add(uploadIn(req.params, grant), { number, md5 }, bytes),
        );
        res.json({ etag: part.etag, md5: part.md5 });
      },
    ],
  });

  methods(router, `${UPLOADS}/:uploadId`, {
    post: [
      body,
      async (req, res) => {
        const grant = await uploads.admitPart(req);
        const key = keyIn(req.params, grant);
        const wanted = partsIn(jsonOf(req));
        const upload = uploadIn(req.params, grant);
        const there = await parts.list(upload);
        const chosen = wanted.map(({ partNumber, etag }) => {
          const part = there.find((one) => one.number === partNumber && one.etag === etag);
          if (part === undefined) throw partsUnknown('v2');
          return part;
        });
        res.json(await uploads.complete(res, grant, key, [{ upload, parts: chosen }]));
      },
    ],
    delete: [
      async (req, res) => {
        await parts.remove(uploadIn(req.params, await uploads.admitPart(req)));
        res.json({});
      },
    ],
  });

  return router;
}

/** Returns the parts in the order of their numbers. */
function partsIn(body: unknown): z.infer<typeof completion>['parts'] {
  const { success, data } = completion.safeParse(body);
  if (!success) throw new Refusal('malformed_upload', 'parts: must be a list of parts, each with partNumber and etag');
  return data.parts.sort((one, other) => one.partNumber - other.partNumber);
}

type Params = Record<string, string | string[] | undefined>;

function uploadIn({ uploadId }: Params, { userId }: UploadGrant) {
  return { userId, version: 'v2', id: String(uploadId) } as const;
}

/** Returns undefined when the client leaves the name to the service. */
function keyIn(params: Params, grant: UploadGrant): string | undefined {
  if (params.key === '~') return undefined;
  const key = decoded(String(params.key));
  nameIn(key, grant);
  return key;
}
