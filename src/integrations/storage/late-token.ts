import type { IncomingMessage } from 'node:http';
import type { Busboy } from 'busboy';
import { UploadTooSlow } from './upload-errors';

/** Fails a form whose file comes before its token, when nothing comes for so long, or no token behind the file. */
export function failWithoutToken(
  { request, parser, fields }: { request: IncomingMessage; parser: Busboy; fields: ReadonlyMap<string, string> },
  patienceMs: number,
  fail: (error: Error) => void,
): void {
  parser.on('file', (_name, file) => {
    if (fields.has('token')) return;
    const timer = setTimeout(
      () => fail(new UploadTooSlow('token: came too late, send it before the file')),
      patienceMs,
    );
    const goOn = () => timer.refresh();
    const hasEnded = () => {
      request.off('data', goOn);
      goOn();
    };
    const stop = () => {
      // The end of the file may be told after the field behind it, and a timer that is refreshed runs again.
      file.off('end', hasEnded);
      request.off('data', goOn);
      clearTimeout(timer);
    };
    request.on('data', goOn);
    file.on('end', hasEnded);
    parser.on('field', (name) => {
      if (name === 'token') stop();
    });
    parser.on('close', stop);
  });
}
