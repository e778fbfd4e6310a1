import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Router, type Request } from 'express';
import { BadRequest, NotFound } from '../../errors';
import { get, post } from '../../http/route';
import type { LocalImageStorage, ReceivedImage } from './local-image-storage';
import type { UploadGrant } from './local-upload-token';
import { KeyNotAllowed, UploadTokenRefused } from './upload-errors';
import { readUploadForm } from './upload-form';

interface Upload {
  grant: UploadGrant;
  image: ReceivedImage;
}

const USER_ID = /^[A-Za-z0-9_-]{1,64}$/;
const NAME = /^[A-Za-z0-9_-]{1,64}(\.(png|jpe?g|gif|webp))?$/;

/** Takes uploads as Qiniu takes them, token and form, and serves the images. */
export function localImageRouter(storage: LocalImageStorage, { uploadTimeoutMs = 120_000 } = {}): Router {
  const router = Router();

  post(router, '/', async (req, res) => {
    const { key, hash } = await store(storage, req, uploadTimeoutMs);
    res.json({ hash, key });
  });

  get(router, '/files/:userId/:name', async (req, res) => {
    const userId = String(req.params.userId);
    const name = String(req.params.name);
    const image = USER_ID.test(userId) && NAME.test(name) ? await storage.open(userId, name) : undefined;
    if (image === undefined) throw new NotFound('no such image');
    res.set({
      'Content-Type': image.mime,
      'Content-Length': String(image.bytes),
      // A key is written once, so its bytes never change.
      'Cache-Control': 'public, max-age=31536000, immutable',
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

async function store(storage: LocalImageStorage, req: Request, timeoutMs: number) {
  const receive = async (file: Readable, fields: ReadonlyMap<string, string>): Promise<Upload> => {
    const token = fields.get('token');
    // The sender must be known before a byte of the file is stored.
    if (token === undefined) throw new UploadTokenRefused('token: must be sent, and before the file');
    const grant = storage.verify(token);
    nameIn(grant, fields.get('key'));
    return { grant, image: await storage.receive(file, grant) };
  };
  const discard = ({ image }: Upload) => storage.discard(image);
  const { fields, file } = await readUploadForm(req, { receive, discard }, timeoutMs);
  return keep(storage, file, fields.get('key'));
}

/** The key may also come after the file. */
async function keep(storage: LocalImageStorage, { grant, image }: Upload, key: string | undefined) {
  try {
    const name = nameIn(grant, key) ?? image.hash + image.type.extension;
    await storage.keep(image, grant.userId, name);
    return { key: `${grant.userId}/${name}`, hash: image.hash };
  } finally {
    await storage.discard(image);
  }
}

function nameIn({ userId }: UploadGrant, key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  const [owner, name, ...more] = key.split('/');
  if (owner === undefined || name === undefined || more.length > 0 || !USER_ID.test(owner) || !NAME.test(name)) {
    throw new BadRequest(
      'key: must be <user id>/<name>, the name of 1 to 64 of A-Z a-z 0-9 _ - and an image extension',
    );
  }
  if (owner !== userId) throw new KeyNotAllowed(`key: must start with ${userId}/, for the token allows no other`);
  return name;
}
