import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Router, type Request, type RequestHandler } from 'express';
import { z } from 'zod';
import type { Caller } from '../../base/caller';
import { BadRequest, NotFound } from '../../base/errors';
import { callerOf } from '../../http/caller-of';
import type { Endpoint } from '../../http/endpoint';
import { nameErrorAlso } from '../../http/error-handler';
import { publicUrlFrom, type PublicUrlOf } from '../../http/public-url';
import { get, post } from '../../http/route';
import type { Queue } from '../../load/queue';
import type { Queues } from '../../load/queues';
import { IMAGE_NAME, nameIn, USER_ID } from './image-key';
import { UPLOAD_PATHS } from './image-storage';
import type { LocalImageStorage, ReceivedImage, Sender } from './local-image-storage';
import type { UploadGrant } from './local-upload-token';
import { ResumableUploads } from './resumable-uploads';
import { resumableV1Router } from './resumable-v1-router';
import { resumableV2Router } from './resumable-v2-router';
import { goneOf } from './upload-body';
import { ChecksumWrong, UploadTokenRefused } from './upload-errors';
import { readUploadForm, type Fields } from './upload-form';

interface Upload {
  /** Where the token came before the file. */
  grant: UploadGrant | undefined;
  image: ReceivedImage;
}

const CACHED_SECONDS = 86_400;

const key = z
  .string()
  .meta({ description: 'The name of the image: `<user id>/<name>`.', examples: ['k7Qw2mZr9TfB/ann.png'] });

export const upload: Endpoint = {
  method: 'post',
  path: UPLOAD_PATHS[0],
  name: 'uploadImage',
  summary: 'Takes an image, as Qiniu takes one.',
  form: z
    .object({
      token: z.string().meta({ description: 'From get_image_token.', examples: ['local:c2lnbmVk:cG9saWN5'] }),
      key: key.optional().meta({ description: 'Without one the image is named by its hash.' }),
      crc32: z
        .string()
        .regex(/^[0-9]{1,10}$/)
        .optional()
        .meta({ description: 'CRC-32 of the file, as a decimal number.', examples: ['222957957'] }),
      file: z.string().meta({ format: 'binary', description: 'PNG, JPEG, GIF or WebP.', examples: ['the bytes'] }),
    })
    .meta({ id: 'ImageForm', description: 'The form of an upload.' }),
  answer: {
    type: 'application/json',
    result: z
      .object({
        hash: z.string().meta({
          description: "Qiniu's hash of the file as it was sent.",
          examples: ['FhYqGk1sL6nJ3Qm2dX0z5vB7cT9e'],
        }),
        key,
      })
      .meta({ id: 'StoredImage', description: 'The image is at `<domain>/<key>`.' }),
  },
  redirect: "With the storage `qiniu`: send the form to Qiniu's own address.",
  refusals: [
    ...(['malformed_upload', 'upload_cut_off', 'not_an_image', 'image_too_complex', 'image_too_slow'] as const),
    ...(['upload_token_refused', 'upload_token_expired', 'key_not_allowed', 'checksum_wrong'] as const),
    ...(['upload_too_slow', 'image_too_large', 'too_many_uploads', 'image_space_full', 'overloaded'] as const),
    ...(['uploads_busy', 'images_unavailable', 'disk_full', 'image_gone', 'key_taken'] as const),
  ],
  like: 'upload',
};

export const image: Endpoint = {
  method: 'get',
  path: '/files/:userId/:name',
  name: 'image',
  summary: 'An image that was uploaded here.',
  params: z.object({
    userId: z.string().meta({ examples: ['k7Qw2mZr9TfB'] }),
    name: z.string().meta({ examples: ['ann.png'] }),
  }),
  answer: { type: 'image/*' },
  refusals: ['no_such_image', 'overloaded'],
};

export type UploadQueues = Pick<Queues, 'uploadsBeforeToken' | 'uploadParts' | 'uploadFiles'>;

interface RouterOptions {
  uploadTimeoutMs?: number;
  tokenTimeoutMs?: number;
  publicUrlOf?: PublicUrlOf;
}

/** Takes uploads as Qiniu takes them, token and form, and serves the images. */
export function localImageRouter(
  storage: LocalImageStorage,
  queues: UploadQueues,
  { uploadTimeoutMs = 120_000, tokenTimeoutMs = 15_000, publicUrlOf = publicUrlFrom(undefined) }: RouterOptions = {},
): Router {
  const router = Router();
  const uploads = new Uploads(storage, queues.uploadsBeforeToken, uploadTimeoutMs, tokenTimeoutMs);

  router.use(['/mkblk', '/bput', '/mkfile', '/buckets'], answerLikeQiniu);
  const resumable = new ResumableUploads(storage, queues, uploadTimeoutMs);
  router.use(resumableV1Router(resumable, publicUrlOf), resumableV2Router(resumable));

  for (const path of UPLOAD_PATHS)
    post(router, path, answerLikeQiniu, async (req, res) => {
      const { key, hash } = await uploads.take(req, { caller: callerOf(req), gone: goneOf(res).signal });
      res.json({ hash, key });
    });

  get(router, image.path, async (req, res) => {
    const userId = String(req.params.userId);
    const name = String(req.params.name);
    const image = USER_ID.test(userId) && IMAGE_NAME.test(name) ? await storage.open(userId, name) : undefined;
    if (image === undefined) throw new NotFound('no_such_image', 'no such image');
    res.set({
      'Content-Type': image.mime,
      'Content-Length': String(image.bytes),
      // Not for good: an image is removed when it is shown no more, and its key is free for another one then.
      'Cache-Control': `public, max-age=${CACHED_SECONDS}`,
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // So that no browser takes the bytes for a page.
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    // A client that goes away is no error of the service.
    await pipeline(image.content, res).catch(() => res.destroy());
  });

  return router;
}

/** Qiniu's SDKs log the request's id, and show `error`. */
const answerLikeQiniu: RequestHandler = (req, res, next) => {
  res.set('X-Reqid', req.id);
  nameErrorAlso(res, 'error');
  next();
};

class Uploads {
  constructor(
    private readonly storage: LocalImageStorage,
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

  /** A token that comes first is checked before a byte of the file is stored. */
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
    if (token === undefined) throw new UploadTokenRefused('upload_token_refused', 'token: must be sent');
    return this.storage.admit(token, caller);
  }
}

function checkCrc(image: ReceivedImage, claimed: string | undefined): void {
  if (claimed === undefined || claimed === '') return;
  if (!/^\d{1,10}$/.test(claimed)) throw new BadRequest('malformed_upload', 'crc32: must be a whole number');
  if (Number(claimed) !== image.crc32)
    throw new ChecksumWrong('checksum_wrong', 'crc32: is not that of the bytes that arrived');
}
