import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** Counts bytes for the address of a request. Throws when the address has had too many. */
export type Meter = (req: Request, bytes: number) => Promise<void>;

interface Form {
  body: Buffer;
  mark: string;
  encoding: Record<string, string>;
}

/** A long text that anybody may ask for. Both forms are made once. */
export class SharedText {
  private constructor(
    private readonly forms: Record<'plain' | 'gzip', Form>,
    private readonly type: string,
    private readonly headers: Record<string, string>,
  ) {}

  /** `type` is a media type or a file's extension. */
  static async of(text: string, type: string, headers: Record<string, string>): Promise<SharedText> {
    const body = Buffer.from(text);
    const mark = createHash('sha256').update(body).digest('base64url').slice(0, 20);
    const zipped = await promisify(gzip)(body, { level: 9 });
    const forms = {
      plain: { body, mark: `"${mark}"`, encoding: {} },
      gzip: { body: zipped, mark: `"${mark}-gzip"`, encoding: { 'Content-Encoding': 'gzip' } },
    };
    return new SharedText(forms, type, headers);
  }

  /** Compressed for clients that take it. A client that has the text already is sent nothing, and nothing is counted. */
  async send(req: Request, res: Response, meter: Meter): Promise<void> {
    const { body, mark, encoding } = this.forms[req.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : 'plain'];
    // Express looks for it to tell whether the client has the text.
    res.setHeader('ETag', mark);
    if (!req.fresh)
      await meter(req, body.length).catch((error: unknown) => {
        res.removeHeader('ETag');
        throw error;
      });
    res
      .set({ ...this.headers, ...encoding })
      .vary('Accept-Encoding')
      .type(this.type)
      .send(body);
  }
}
