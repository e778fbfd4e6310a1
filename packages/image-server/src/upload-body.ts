import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { Refusal } from './errors';

/** Maximum time and bytes that a refused client may go on sending before it reads the answer. */
const DRAIN_MS = 10_000;
const DRAIN_BYTES = 16 * 1_024 * 1_024;

/** Passes on a body that consists of a file only. Always settles. */
export async function readUploadBody<T>(
  request: IncomingMessage,
  receive: (body: Readable) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  const body = new PassThrough();
  // The stream may be destroyed before it has a reader.
  body.on('error', () => {});
  const fail = (error: Error) => {
    request.unpipe(body);
    body.destroy(error);
  };
  const timer = setTimeout(() => fail(new Refusal('upload_too_slow', 'the upload took too long')), timeoutMs);
  failWhenCutOff(request, fail);
  request.pipe(body);
  try {
    return await receive(body);
  } catch (error) {
    request.unpipe(body);
    drain(request);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

export function failWhenCutOff(request: IncomingMessage, fail: (error: Error) => void): void {
  const cutOff = () => fail(new Refusal('upload_cut_off', 'the upload was cut off'));
  request.on('error', cutOff);
  request.on('close', () => {
    if (!request.complete) cutOff();
  });
}

/** Returns a controller that aborts when the client disconnects. It also aborts, without effect, after the answer. */
export function goneOf(res: ServerResponse): AbortController {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  if (res.destroyed) gone.abort();
  return gone;
}

/** Discards the rest of a refused upload, up to a limit: many clients read the answer only after sending everything. */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const stop = () => request.destroy();
  const timer = setTimeout(stop, DRAIN_MS).unref();
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) stop();
  });
  request.on('close', () => clearTimeout(timer));
  // A stream that was unpiped stays paused until it is resumed.
  request.resume();
}
