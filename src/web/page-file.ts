import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Router } from 'express';
import { get } from '../http/route';
import { sharedText, type Meter, type SendText } from '../http/shared-text';

/** Policy of pages: they load only scripts and styles of this service, and no page shows them in a frame. */
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
  // Icons in the style sheet of Swagger UI.
  "img-src 'self' data:",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

/** Returns the path of a file in src/web/browser. */
export function ownFile(name: string): string {
  return join(__dirname, 'browser', name);
}

/** Returns a function that answers GET of a path with a file, read when a browser first asks for it. */
export function servingFiles(router: Router, meter: Meter) {
  return (path: string, file: string, changed = (text: string) => text) => {
    let sending: Promise<SendText> | undefined;
    const read = async () => {
      const text = changed(await readFile(file, 'utf8'));
      // Browsers keep it, and ask each time whether it has changed.
      return sharedText(text, extname(file), { 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY });
    };
    get(router, path, async (req, res) => {
      sending ??= read().catch((error: unknown) => {
        // The next request tries again.
        sending = undefined;
        throw error;
      });
      const send = await sending;
      await send(req, res, meter);
    });
  };
}
