import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** Counts bytes for the address of a request. Throws when the address has had too many. */
export type Meter = (req: Request, bytes: number) => Promise<void>;

/** Sends a text, compressed if the client accepts it. A client that has it gets a 304, and nothing is counted. */
export type SendText = (req: Request, res: Response, meter: Meter) => Promise<void>;

/** Compresses a long text once, for anyone. `type` is a media type or a file extension. */
export async function sharedText(text: string, type: string, headers: Record<string, string>): Promise<SendText> {
  const plain = Buffer.from(text);
  const zipped = await promisify(gzip)(plain, { level: 9 });
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 20);
  const forms = {
    plain: { body: plain, mark: `"${hash}"`, encoding: {} },
    gzip: { body: zipped, mark: `"${hash}-gzip"`, encoding: { 'Content-Encoding': 'gzip' } },
  };
  return async (req, res, meter) => {
    const { body, mark, encoding } = forms[req.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : 'plain'];
    // Express uses it to tell whether the client has the text.
    res.setHeader('ETag', mark);
    if (!req.fresh)
      await meter(req, body.length).catch((error: unknown) => {
        res.removeHeader('ETag');
        throw error;
      });
    res
      .set({ ...headers, ...encoding })
      .vary('Accept-Encoding')
      .type(type)
      .send(body);
  };
}
