import type { Request, Response } from 'express';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';

/** A text this short is not worth compressing. */
const GZIP_FROM = 256;
/** Up to here an answer is sent in one piece. */
const WHOLE_UP_TO = 16 * 1_024;

/**
 * Sends JSON whose pieces are made while it is sent, as fast as the client takes them and no faster. A failure in the
 * middle breaks the answer off, so that a client never takes half for the whole.
 */
export async function streamJson(req: Request, res: Response, pieces: AsyncGenerator<string>): Promise<void> {
  // Its deadline has passed: it was answered with 503.
  if (res.headersSent) return;
  const gzip = req.acceptsEncodings('gzip', 'identity') === 'gzip';
  res.type('application/json').vary('Accept-Encoding');
  let begun = '';
  // Nothing is made for who has gone.
  while (!res.closed) {
    const piece = await pieces.next();
    if (piece.done) {
      sendWhole(res, begun, gzip);
      return;
    }
    begun += piece.value;
    if (begun.length > WHOLE_UP_TO) break;
  }
  if (res.closed) return;
  const source = Readable.from(resume(begun, pieces), { objectMode: false, highWaterMark: WHOLE_UP_TO });
  if (gzip) await pipeline(source, createGzip({ level: 4 }), res.set('Content-Encoding', 'gzip'));
  else await pipeline(source, res);
}

function sendWhole(res: Response, text: string, gzip: boolean): void {
  if (!gzip || text.length < GZIP_FROM) res.end(text);
  else res.set('Content-Encoding', 'gzip').end(gzipSync(text, { level: 4 }));
}

async function* resume(begun: string, pieces: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  yield Buffer.from(begun);
  for await (const piece of pieces) yield Buffer.from(piece);
}
