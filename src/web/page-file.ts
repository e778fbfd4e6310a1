import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response, Router } from 'express';
import { get } from '../http/route';

/** Scripts and styles are files of this service, nothing of a page comes from elsewhere, and no page shows it in a frame. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
  // Icons in the style sheet of Swagger UI.
  "img-src 'self' data:",
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

interface Form {
  body: Buffer;
  headers: Record<string, string>;
}

/** A file for browsers, read and compressed when the first one asks for it. */
class PageFile {
  private forms: Promise<Record<'plain' | 'gzip', Form>> | undefined;

  constructor(
    private readonly path: string,
    private readonly changed: (text: string) => string,
  ) {}

  async answer(req: Request, res: Response): Promise<void> {
    const forms = await (this.forms ??= this.read().catch((error: unknown) => {
      // The next one tries again.
      this.forms = undefined;
      throw error;
    }));
    const { body, headers } = forms[req.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : 'plain'];
    // A browser keeps it, and asks each time whether it is still the same.
    res.set({ ...headers, 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY }).vary('Accept-Encoding');
    res.type(extname(this.path)).send(body);
  }

  private async read() {
    const body = Buffer.from(this.changed(await readFile(this.path, 'utf8')));
    const mark = createHash('sha256').update(body).digest('base64url').slice(0, 20);
    const zipped = await promisify(gzip)(body, { level: 9 });
    return {
      plain: { body, headers: { ETag: `"${mark}"` } },
      gzip: { body: zipped, headers: { ETag: `"${mark}-gzip"`, 'Content-Encoding': 'gzip' } },
    };
  }
}

/** Of src/web/browser. */
export function ownFile(name: string): string {
  return join(__dirname, 'browser', name);
}

/** Answers GET of this path with a file. */
export function serve(router: Router, path: string, file: string, changed = (text: string) => text): void {
  const served = new PageFile(file, changed);
  get(router, path, (req, res) => served.answer(req, res));
}
