import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { isTooLate } from './deadline';

/** Shorter texts are not compressed. */
const GZIP_FROM = 256;
/** Shorter answers are sent in one piece. */
const WHOLE_UP_TO = 16 * 1_024;

/**
 * Sends JSON in pieces, each made when the client is ready for it. A failure in the middle breaks the answer off, so
 * that a client never takes a part for the whole.
 */
export async function streamJson(req: Request, res: Response, pieces: AsyncGenerator<string>): Promise<void> {
  try {
    await send(req, res, pieces);
  } finally {
    // Where not all was sent, it holds a place still.
    await pieces.return(undefined);
  }
}

/** The rows of an array, without its brackets, a page at a time; the empty text for a page without rows. */
export async function* rowsText<Row>(pages: AsyncIterable<Row[]>, view: (row: Row) => object): AsyncGenerator<string> {
  let separator = '';
  for await (const page of pages) {
    const text = JSON.stringify(page.map(view)).slice(1, -1);
    yield text && separator + text;
    if (text !== '') separator = ',';
  }
}

async function send(req: Request, res: Response, pieces: AsyncGenerator<string>): Promise<void> {
  if (isTooLate(res)) return;
  const gzip = req.acceptsEncodings('gzip', 'identity') === 'gzip';
  res.type('application/json').vary('Accept-Encoding');
  let begun = '';
  // No piece is made for a client that has gone.
  while (!res.destroyed) {
    const piece = await pieces.next();
    if (piece.done) {
      sendWhole(res, begun, gzip);
      return;
    }
    begun += piece.value;
    if (begun.length > WHOLE_UP_TO) break;
  }
  if (res.destroyed) return;
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
