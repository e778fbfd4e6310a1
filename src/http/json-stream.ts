import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { isTooLate } from './deadline';

/** Minimum length of texts that are compressed. */
const GZIP_FROM = 256;
/** Maximum length of answers that are sent in one piece. */
const WHOLE_UP_TO = 16 * 1_024;

/** A list that is read page by page. */
export type Pages<Item> = AsyncIterable<Item[]>;

/** A list, or an object whose lists may come in pages. */
export type Streamed<Result> = Result extends (infer Item)[]
  ? Pages<Item>
  : { [Field in keyof Result]: Result[Field] extends (infer Item)[] ? Item[] | Pages<Item> : Result[Field] };

/** Converts the rows of pages for clients. */
export async function* viewed<Row, View>(pages: Pages<Row>, view: (row: Row) => View): AsyncGenerator<View[]> {
  for await (const page of pages) yield page.map(view);
}

/**
 * Sends a result as JSON, each page when the client is ready for it. A failure cuts the answer off, so that a client
 * never takes a part for the whole. With a `file` name, browsers save the answer.
 */
export async function streamJson(req: Request, res: Response, result: object, file?: string): Promise<void> {
  const pieces = textOf(result);
  try {
    await send(req, res, pieces, file);
  } finally {
    // An unfinished answer still holds its slot in a queue.
    await pieces.return(undefined);
  }
}

/** Keeps the text before a list until its first page arrives: a refused client gets no half of an answer. */
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

/** Splits the answer into texts and lists of pages, in order. */
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
  const gzip = req.acceptsEncodings('gzip', 'identity') === 'gzip';
  res.type('application/json').vary('Accept-Encoding');
  let begun = '';
  let isWhole = false;
  // Stops when the client has gone.
  while (!res.destroyed && !isTooLate(res) && !isWhole && begun.length <= WHOLE_UP_TO) {
    const piece = await pieces.next();
    isWhole = piece.done === true;
    begun += piece.value ?? '';
  }
  if (res.destroyed || isTooLate(res)) return;
  if (file) res.set('Content-Disposition', `attachment; filename="${file}"`);
  req.answered = begun.length;
  if (isWhole) {
    sendWhole(res, begun, gzip);
    return;
  }
  const source = Readable.from(resume(req, begun, pieces), { objectMode: false, highWaterMark: WHOLE_UP_TO });
  if (gzip) await pipeline(source, createGzip({ level: 4 }), res.set('Content-Encoding', 'gzip'));
  else await pipeline(source, res);
}

function sendWhole(res: Response, text: string, gzip: boolean): void {
  if (!gzip || text.length < GZIP_FROM) res.end(text);
  else res.set('Content-Encoding', 'gzip').end(gzipSync(text, { level: 4 }));
}

async function* resume(req: Request, begun: string, pieces: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  yield Buffer.from(begun);
  for await (const piece of pieces) {
    req.answered = (req.answered ?? 0) + piece.length;
    yield Buffer.from(piece);
  }
}
