import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Router } from 'express';
import { get } from '../http/route';
import { sharedText, type Meter, type SendText } from '../http/shared-text';

/** Scripts and styles are files of this service, nothing of a page comes from elsewhere, and no page shows it in a frame. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
  // Icons in the style sheet of Swagger UI.
  "img-src 'self' data:",
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** Of src/web/browser. */
export function ownFile(name: string): string {
  return join(__dirname, 'browser', name);
}

/** Returns a function that has GET of a path answered with a file. It is read when a browser first asks for it. */
export function servingFiles(router: Router, meter: Meter) {
  return (path: string, file: string, changed = (text: string) => text) => {
    let sending: Promise<SendText> | undefined;
    const read = async () => {
      const text = changed(await readFile(file, 'utf8'));
      // A browser keeps it, and asks each time whether it is still the same.
      return sharedText(text, extname(file), { 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY });
    };
    get(router, path, async (req, res) => {
      sending ??= read().catch((error: unknown) => {
        // The next one tries again.
        sending = undefined;
        throw error;
      });
      const send = await sending;
      await send(req, res, meter);
    });
  };
}
