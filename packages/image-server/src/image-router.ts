import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Router, type Request, type RequestHandler } from 'express';
import { Refusal } from './errors';
import type { Caller, Host, Queue, UploadQueues } from './host';
import { methods, post } from './http';
import { IMAGE_NAME, nameIn, USER_ID } from './image-key';
import type { ImageStore, ReceivedImage, Sender } from './image-store';
import { ResumableUploads } from './resumable-uploads';
import { resumableV1Router } from './resumable-v1-router';
import { resumableV2Router } from './resumable-v2-router';
import { goneOf } from './upload-body';
import { readUploadForm, type Fields } from './upload-form';
import type { UploadGrant } from './upload-token';

interface Upload {
  /** Set when the token came before the file. */
  grant: UploadGrant | undefined;
  image: ReceivedImage;
}

const CACHED_SECONDS = 86_400;

/** Paths of forms. Qiniu's SDKs send to `/`. A proxy that serves an app on the same origin leaves `/` to the app. */
export const UPLOAD_PATHS = ['/files', '/'] as const;
export const IMAGE_PATH = '/files/:userId/:name';
/** Prefixes of the paths of Qiniu's resumable uploads. */
export const RESUMABLE_PATHS = ['/mkblk', '/bput', '/mkfile', '/buckets'];

export interface UploadTimes {
  uploadTimeoutMs?: number | undefined;
  /** Longest pause of a file that comes before its token, and longest wait for that token afterwards. */
  tokenTimeoutMs?: number | undefined;
}

/** Accepts uploads with tokens and forms like Qiniu's, and serves the images. */
export function imageRouter(
  storage: ImageStore,
  queues: UploadQueues,
  { callerOf, publicUrlOf, answerLikeQiniu }: Host,
  { uploadTimeoutMs = 120_000, tokenTimeoutMs = 15_000 }: UploadTimes = {},
): Router {
  const router = Router();
  const likeQiniu: RequestHandler = (req, res, next) => {
    answerLikeQiniu(req, res);
    next();
  };
  const uploads = new Uploads(storage, queues.uploadsBeforeToken, uploadTimeoutMs, tokenTimeoutMs);

  router.use(RESUMABLE_PATHS, likeQiniu);
  const resumable = new ResumableUploads(storage, queues, callerOf, uploadTimeoutMs);
  router.use(resumableV1Router(resumable, publicUrlOf), resumableV2Router(resumable));

  for (const path of UPLOAD_PATHS)
    post(router, path, likeQiniu, async (req, res) => {
      const { key, hash } = await uploads.take(req, { caller: callerOf(req), gone: goneOf(res).signal });
      res.json({ hash, key });
    });

  const serve: RequestHandler = async (req, res) => {
    const userId = String(req.params.userId);
    const name = String(req.params.name);
    const image = USER_ID.test(userId) && IMAGE_NAME.test(name) ? await storage.open(userId, name) : undefined;
    if (image === undefined) throw new Refusal('no_such_image', 'no such image');
    res.set({
      'Content-Type': image.mime,
      'Content-Length': String(image.bytes),
      // Not cached forever: an image is removed once it is shown nowhere, and its key is then free for another one.
      'Cache-Control': `public, max-age=${CACHED_SECONDS}`,
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // Keeps browsers from showing the bytes as a page.
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    // A client that disconnects is not an error of the service.
    await pipeline(image.content, res).catch(() => res.destroy());
  };
  methods(router, IMAGE_PATH, { get: [serve] });

  return router;
}

class Uploads {
  constructor(
    private readonly storage: ImageStore,
    private readonly beforeToken: Queue,
    private readonly timeoutMs: number,
    private readonly tokenTimeoutMs: number,
  ) {}

  async take(req: Request, sender: Sender): Promise<{ key: string; hash: string }> {
    const { caller } = sender;
    let leave = () => {};
    const receive = async (file: Readable, fields: Fields, fail: (reason: Error) => void): Promise<Upload> => {
      if (fields.has('token')) return this.receiveKnown(file, fields, caller);
      leave = this.beforeToken.take(caller.address, { abort: fail });
      return { grant: undefined, image: await this.storage.receive(file) };
    };
    const discard = ({ image }: Upload) => this.storage.discard(image);
    try {
      const { timeoutMs, tokenTimeoutMs } = this;
      const limits = { timeoutMs, tokenTimeoutMs, maxBytes: this.storage.maxBytes };
      const { fields, file } = await readUploadForm(req, { receive, discard }, limits);
      const admitted = () => this.admitLate(fields.get('token'), caller).finally(leave);
      return await this.keep(file, fields, admitted, sender);
    } finally {
      leave();
    }
  }

  /** Checks a token that comes first before it stores a byte of the file. */
  private async receiveKnown(file: Readable, fields: Fields, caller: Caller): Promise<Upload> {
    const grant = await this.storage.admit(fields.get('token') ?? '', caller);
    const key = fields.get('key');
    if (key !== undefined) nameIn(key, grant);
    return { grant, image: await this.storage.receive(file, grant.maxBytes) };
  }

  private async keep({ grant, image }: Upload, fields: Fields, admitted: () => Promise<UploadGrant>, sender: Sender) {
    try {
      checkCrc(image, fields.get('crc32'));
      const allowed = grant ?? (await admitted());
      return await this.storage.keep(image, allowed, fields.get('key'), sender);
    } finally {
      await this.storage.discard(image);
    }
  }

  private async admitLate(token: string | undefined, caller: Caller): Promise<UploadGrant> {
    if (token === undefined) throw new Refusal('upload_token_refused', 'token: must be sent');
    return this.storage.admit(token, caller);
  }
}

function checkCrc(image: ReceivedImage, claimed: string | undefined): void {
  if (claimed === undefined || claimed === '') return;
  if (!/^\d{1,10}$/.test(claimed)) throw new Refusal('malformed_upload', 'crc32: must be a whole number');
  if (Number(claimed) !== image.crc32)
    throw new Refusal('checksum_wrong', 'crc32: does not match the bytes that arrived');
}
