import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { isTooLate } from './deadline';

/** Shorter texts are not compressed. */
const GZIP_FROM = 256;
/** Shorter answers are sent in one piece. */
const WHOLE_UP_TO = 16 * 1_024;

/** A list that comes a page at a time. */
export type Pages<Item> = AsyncIterable<Item[]>;

/** A list, or an object whose lists may come in pages. */
export type Streamed<Result> = Result extends (infer Item)[]
  ? Pages<Item>
  : { [Field in keyof Result]: Result[Field] extends (infer Item)[] ? Item[] | Pages<Item> : Result[Field] };

/** The rows of pages as clients are shown them. */
export async function* viewed<Row, View>(pages: Pages<Row>, view: (row: Row) => View): AsyncGenerator<View[]> {
  for await (const page of pages) yield page.map(view);
}

/**
 * Sends a result as JSON, each page when the client is ready for it. A failure in the middle breaks the answer off, so
 * that a client never takes a part for the whole. With a file's name a browser saves the answer.
 */
export async function streamJson(req: Request, res: Response, result: object, file?: string): Promise<void> {
  const pieces = textOf(result);
  try {
    await send(req, res, pieces, file);
  } finally {
    // Where not all was sent, it holds a place still.
    await pieces.return(undefined);
  }
}

/** The text before a list is kept until its first page comes: whoever is refused it is sent no half of an answer. */
async function* textOf(result: object): AsyncGenerator<string> {
  let kept = '{"code":200,"result":';
  for (const part of partsOf(result)) {
    if (typeof part === 'string') {
      kept += part;
      continue;
    }
    let separator = '';
    for await (const page of part) {
      const rows = JSON.stringify(page).slice(1, -1);
      yield kept + (rows && separator + rows);
      kept = '';
      if (rows !== '') separator = ',';
    }
  }
  yield `${kept}}`;
}

/** Texts and lists in pages, in the order of the answer. */
function partsOf(result: object): (string | Pages<unknown>)[] {
  if (isPages(result)) return ['[', result, ']'];
  const fields = Object.entries(result).flatMap(([name, value]: [string, unknown]) => {
    const parts = isPages(value) ? ['[', value, ']'] : [JSON.stringify(value)];
    return [',', `${JSON.stringify(name)}:`, ...parts];
  });
  return ['{', ...fields.slice(1), '}'];
}

export function isPages(value: unknown): value is Pages<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function send(req: Request, res: Response, pieces: AsyncGenerator<string>, file?: string): Promise<void> {
  if (isTooLate(res)) return;
  const gzip = req.acceptsEncodings('gzip', 'identity') === 'gzip';
  res.type('application/json').vary('Accept-Encoding');
  let begun = '';
  let isWhole = false;
  // No piece is made for a client that has gone.
  while (!res.destroyed && !isWhole && begun.length <= WHOLE_UP_TO) {
    const piece = await pieces.next();
    isWhole = piece.done === true;
    begun += piece.value ?? '';
  }
  if (res.destroyed) return;
  if (file) res.set('Content-Disposition', `attachment; filename="${file}"`);
  if (isWhole) {
    sendWhole(res, begun, gzip);
    return;
  }
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
