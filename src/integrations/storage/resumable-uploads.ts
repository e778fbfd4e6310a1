import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { AppError, BadRequest } from '../../base/errors';
import { callerOf } from '../../http/caller-of';
import type { Queues } from '../../load/queues';
import type { KeptImage, LocalImageStorage, Sender } from './local-image-storage';
import type { UploadGrant } from './local-upload-token';
import { goneOf, readUploadBody } from './upload-body';
import { UploadTokenRefused } from './upload-errors';
import type { Piece } from './upload-parts';

/** What both versions of Qiniu's resumable uploads have in common. */
export class ResumableUploads {
  constructor(
    private readonly storage: LocalImageStorage,
    private readonly queues: Pick<Queues, 'uploadParts' | 'uploadFiles'>,
    private readonly timeoutMs: number,
  ) {}

  get parts() {
    return this.storage.parts;
  }

  /** What the token in the header allows. Counts an upload. */
  async admit(req: Request): Promise<UploadGrant> {
    return this.storage.admit(tokenOf(req), callerOf(req));
  }

  /** The same for all other steps of an upload. */
  async admitPart(req: Request): Promise<UploadGrant> {
    return this.storage.admitPart(tokenOf(req), callerOf(req));
  }

  /** Takes a part: the token is checked before a byte of it is stored. */
  receive<T>(req: Request, store: (grant: UploadGrant, part: Readable) => Promise<T>): Promise<T> {
    const receive = async (part: Readable): Promise<T> => {
      const grant = await this.admitPart(req);
      const leave = this.queues.uploadParts.take(grant.userId, { abort: (reason) => part.destroy(reason) });
      return store(grant, part).finally(leave);
    };
    return readUploadBody(req, receive, this.timeoutMs);
  }

  /**
   * Makes one image of the parts of one or several uploads, once however many ask for it at a time. The parts are removed
   * then, unless the same request may succeed later.
   */
  async complete(res: Response, grant: UploadGrant, key: string | undefined, pieces: Piece[]): Promise<KeptImage> {
    const { parts } = this;
    const gone = goneOf(res);
    // Aborts it only as long as it waits to be decoded.
    const leave = this.queues.uploadFiles.take(grant.userId, { abort: () => gone.abort() });
    try {
      const claimed = await parts.claim(pieces);
      const remove = async () => {
        for (const { upload } of claimed) await parts.remove(upload);
      };
      try {
        const kept = await this.keep(grant, key, claimed, { caller: callerOf(res.req), gone: gone.signal });
        await remove();
        return kept;
      } catch (error) {
        if (error instanceof AppError && (error.status < 500 || error.status > 599)) await remove();
        else await parts.unclaim(claimed);
        throw error;
      }
    } finally {
      leave();
    }
  }

  private async keep(grant: UploadGrant, key: string | undefined, pieces: Piece[], sender: Sender): Promise<KeptImage> {
    const { parts, storage } = this;
    async function* whole(): AsyncGenerator<Buffer> {
      for (const piece of pieces) yield* parts.read(piece.upload, piece.parts);
    }
    const image = await storage.receive(Readable.from(whole(), { objectMode: false }), grant.maxBytes);
    return storage.keep(image, grant, key, sender).finally(() => storage.discard(image));
  }
}

/** Qiniu's base64 is the URL-safe one. */
export function decoded(base64: string): string {
  return Buffer.from(base64, 'base64url').toString();
}

/** An integer in a path. */
export function integer(name: string, digits: unknown, least: number, most: number): number {
  const value = typeof digits === 'string' && /^\d{1,10}$/.test(digits) ? Number(digits) : NaN;
  if (value >= least && value <= most) return value;
  throw new BadRequest('malformed_upload', `${name}: must be an integer from ${least} to ${most}`);
}

export const seconds = (milliseconds: number) => Math.floor(milliseconds / 1_000);

function tokenOf(req: Request): string {
  const [, token] = /^UpToken (\S+)$/i.exec(req.get('Authorization') ?? '') ?? [];
  if (token === undefined)
    throw new UploadTokenRefused('upload_token_refused', 'Authorization: must be UpToken, a space, and the token');
  return token;
}
