import type { IncomingMessage } from 'node:http';
import type { Busboy } from 'busboy';
import { Refusal } from './errors';

/** Minimum average rate, after the first `patienceMs`. A slow phone of today is faster. */
const LEAST_BYTES_PER_MS = 8;

/**
 * Fails a form whose file comes before its token: when nothing arrives for `patienceMs`, when the file arrives too
 * slowly, or when the rest of the form takes `patienceMs`.
 */
export function failSlowWithoutToken(
  { request, parser, fields }: { request: IncomingMessage; parser: Busboy; fields: ReadonlyMap<string, string> },
  patienceMs: number,
  fail: (error: Error) => void,
): void {
  parser.on('file', (_name, file) => {
    if (fields.has('token')) return;
    const tooSlow = () => fail(new Refusal('upload_too_slow', 'token: came too late, send it before the file'));
    const timer = setTimeout(tooSlow, patienceMs);
    const begun = performance.now();
    let bytes = 0;
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (performance.now() - begun > patienceMs + bytes / LEAST_BYTES_PER_MS) tooSlow();
      else timer.refresh();
    };
    const onFileEnd = () => {
      request.off('data', onData);
      timer.refresh();
    };
    request.on('data', onData);
    file.on('end', onFileEnd);
    parser.on('close', () => {
      // Removed first: refreshing a cleared timer would restart it.
      file.off('end', onFileEnd);
      request.off('data', onData);
      clearTimeout(timer);
    });
  });
}
