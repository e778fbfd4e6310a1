import type { IncomingMessage } from 'node:http';
import type { Busboy } from 'busboy';
import { Refusal } from './errors';

/** On the whole, the patience apart. A slow phone of today has more. */
const LEAST_BYTES_PER_MS = 8;

/**
 * Fails a form whose file comes before its token: when nothing comes for so long, when it comes in drops, or when what
 * is behind the file takes so long.
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
    const goOn = (chunk: Buffer) => {
      bytes += chunk.length;
      if (performance.now() - begun > patienceMs + bytes / LEAST_BYTES_PER_MS) tooSlow();
      else timer.refresh();
    };
    const hasEnded = () => {
      request.off('data', goOn);
      timer.refresh();
    };
    request.on('data', goOn);
    file.on('end', hasEnded);
    parser.on('close', () => {
      // A timer that is refreshed runs again.
      file.off('end', hasEnded);
      request.off('data', goOn);
      clearTimeout(timer);
    });
  });
}
