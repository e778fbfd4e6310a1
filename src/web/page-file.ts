import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Request, Response, Router } from 'express';
import { get } from '../http/route';
import { SharedText, type Meter } from '../http/shared-text';

/** Scripts and styles are files of this service, nothing of a page comes from elsewhere, and no page shows it in a frame. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
  // Icons in the style sheet of Swagger UI.
  "img-src 'self' data:",
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** A file for browsers, read and compressed when the first one asks for it. */
class PageFile {
  private text: Promise<SharedText> | undefined;

  constructor(
    private readonly path: string,
    private readonly changed: (text: string) => string,
  ) {}

  async answer(req: Request, res: Response, meter: Meter): Promise<void> {
    const text = await (this.text ??= this.read().catch((error: unknown) => {
      // The next one tries again.
      this.text = undefined;
      throw error;
    }));
    await text.send(req, res, meter);
  }

  private async read(): Promise<SharedText> {
    const text = this.changed(await readFile(this.path, 'utf8'));
    // A browser keeps it, and asks each time whether it is still the same.
    return SharedText.of(text, extname(this.path), { 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY });
  }
}

/** Of src/web/browser. */
export function ownFile(name: string): string {
  return join(__dirname, 'browser', name);
}

export type Serve = (path: string, file: string, changed?: (text: string) => string) => void;

/** Returns a function that has GET of a path answered with a file. */
export function servingFiles(router: Router, meter: Meter): Serve {
  return (path, file, changed = (text) => text) => {
    const served = new PageFile(file, changed);
    get(router, path, (req, res) => served.answer(req, res, meter));
  };
}
