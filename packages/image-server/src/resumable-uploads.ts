import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { Refusal } from './errors';
import type { Host, UploadQueues } from './host';
import type { ImageStore, KeptImage, Sender } from './image-store';
import { goneOf, readUploadBody } from './upload-body';
import type { Piece } from './upload-parts';
import type { UploadGrant } from './upload-token';

/** The common parts of both versions of Qiniu's resumable uploads. */
export class ResumableUploads {
  constructor(
    private readonly storage: ImageStore,
    private readonly queues: Pick<UploadQueues, 'uploadParts' | 'uploadFiles'>,
    private readonly callerOf: Host['callerOf'],
    private readonly timeoutMs: number,
  ) {}

  get parts() {
    return this.storage.parts;
  }

  /** Returns what the token in the header allows, and counts an upload. */
  async admit(req: Request): Promise<UploadGrant> {
    return this.storage.admit(tokenOf(req), this.callerOf(req));
  }

  /** Like `admit`, but does not count an upload: for all other steps of it. */
  async admitPart(req: Request): Promise<UploadGrant> {
    return this.storage.admitPart(tokenOf(req), this.callerOf(req));
  }

  /** Receives a part. Checks the token before a byte of the part is stored. */
  receive<T>(req: Request, store: (grant: UploadGrant, part: Readable) => Promise<T>): Promise<T> {
    const receive = async (part: Readable): Promise<T> => {
      const grant = await this.admitPart(req);
      const leave = this.queues.uploadParts.take(grant.userId, { abort: (reason) => part.destroy(reason) });
      return store(grant, part).finally(leave);
    };
    return readUploadBody(req, receive, this.timeoutMs);
  }

  /**
   * Makes one image from the parts of one or several uploads. If several requests do so at once, one succeeds. The
   * parts are then removed, unless the same request may succeed later.
   */
  async complete(res: Response, grant: UploadGrant, key: string | undefined, pieces: Piece[]): Promise<KeptImage> {
    const { parts } = this;
    const gone = goneOf(res);
    // Aborts the upload only while it waits to be decoded.
    const leave = this.queues.uploadFiles.take(grant.userId, { abort: () => gone.abort() });
    try {
      const claimed = await parts.claim(pieces);
      const remove = async () => {
        for (const { upload } of claimed) await parts.remove(upload);
      };
      try {
        const kept = await this.keep(grant, key, claimed, { caller: this.callerOf(res.req), gone: gone.signal });
        await remove();
        return kept;
      } catch (error) {
        if (isFinal(error)) await remove();
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

/** Whether the same request can never succeed: this server or its host refused it, and not because of an outage. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('status' in error)) return false;
  return Number(error.status) < 500 || Number(error.status) > 599;
}

/** Decodes Qiniu's base64, which is the URL-safe one. */
export function decoded(base64: string): string {
  return Buffer.from(base64, 'base64url').toString();
}

/** Parses an integer in a path. */
export function integer(name: string, digits: unknown, least: number, most: number): number {
  const value = typeof digits === 'string' && /^\d{1,10}$/.test(digits) ? Number(digits) : NaN;
  if (value >= least && value <= most) return value;
  throw new Refusal('malformed_upload', `${name}: must be an integer from ${least} to ${most}`);
}

export const seconds = (milliseconds: number) => Math.floor(milliseconds / 1_000);

function tokenOf(req: Request): string {
  const [, token] = /^UpToken (\S+)$/i.exec(req.get('Authorization') ?? '') ?? [];
  if (token === undefined)
    throw new Refusal('upload_token_refused', 'Authorization: must be UpToken, a space, and the token');
  return token;
}
