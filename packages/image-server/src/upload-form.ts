import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy, { type Busboy } from 'busboy';
import { Refusal } from './errors';
import { failSlowWithoutToken } from './late-token';
import { drain, failWhenCutOff } from './upload-body';

export type Fields = ReadonlyMap<string, string>;

interface FormLimits {
  timeoutMs: number;
  /** Longest pause of a file that comes before its token, and longest wait for that token afterwards. */
  tokenTimeoutMs: number;
  /** Maximum size of the file. */
  maxBytes: number;
}

export interface FileHandling<T> {
  /** Gets the file, the fields before it, and a function that fails the form while it is being read. */
  receive(file: Readable, fields: Fields, fail: (reason: Error) => void): Promise<T>;
  /** Gets a file that was received before the form turned out to be bad. */
  discard(received: T): Promise<void>;
}

/** Maximum bytes of a form apart from its file: the fields and the heads of all parts. */
const BESIDE_THE_FILE = 262_144;
/** Room for a boundary of 70 characters, the longest that RFC 2046 allows, and for the name of a character set. */
const TYPE_LENGTH = 120;
const LIMITS = { fieldNameSize: 200, fieldSize: 4_096, fields: 50, files: 1, parts: 60, headerPairs: 20 };

/** Reads a form with one file. Always settles: with the form, or with its first mistake. */
export async function readUploadForm<T>(
  request: IncomingMessage,
  handling: FileHandling<T>,
  { timeoutMs, tokenTimeoutMs, maxBytes }: FormLimits,
): Promise<{ fields: Fields; file: T }> {
  const parser = parserFor(request);
  const fields = new Map<string, string>();
  let receiving: Promise<T> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const parsed = new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => {
      reject(error);
      request.unpipe(parser);
      // Also destroys the file's stream, and so fails its reader.
      parser.destroy(error);
    };
    timer = setTimeout(() => fail(new Refusal('upload_too_slow', 'the upload took too long')), timeoutMs);
    failWhenCutOff(request, fail);
    failWhenLonger(request, maxBytes + BESIDE_THE_FILE, fail);
    failOutsideLimits(parser, fail);
    failSlowWithoutToken({ request, parser, fields }, tokenTimeoutMs, fail);
    parser.on('field', (name, value) => fields.set(name, value));
    parser.on('file', (name, file) => {
      // The stream may be destroyed before it has a reader.
      file.on('error', () => {});
      if (name !== 'file')
        return fail(new Refusal('malformed_upload', 'file: must be the name of the field that holds the file'));
      receiving = handling.receive(file, fields, fail);
      receiving.catch(fail);
    });
    parser.on('close', resolve);
    request.pipe(parser);
  });

  try {
    await parsed;
    if (receiving === undefined) throw new Refusal('malformed_upload', 'file: missing');
    return { fields, file: await receiving };
  } catch (error) {
    drain(request);
    await receiving?.then(
      (received) => handling.discard(received),
      () => {},
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function parserFor(request: IncomingMessage): Busboy {
  try {
    const type = request.headers['content-type'] ?? '';
    if (type.length > TYPE_LENGTH) throw new Error('the boundary is too long');
    return busboy({ headers: request.headers, limits: LIMITS });
  } catch (error) {
    drain(request);
    throw new Refusal('malformed_upload', 'the body must be a form of the type multipart/form-data', {
      cause: error,
    });
  }
}

/** Limits the whole form: the parser limits each part, but not the bytes before, between and after the parts. */
function failWhenLonger(request: IncomingMessage, mostBytes: number, fail: (error: Error) => void): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) fail(new Refusal('image_too_large', `the form must have at most ${mostBytes} bytes`));
  });
}

function failOutsideLimits(parser: Busboy, fail: (error: Error) => void): void {
  parser.on('field', (name, _value, { valueTruncated }) => {
    if (valueTruncated) fail(new Refusal('malformed_upload', `${name}: is too long`));
  });
  parser.on('filesLimit', () => fail(new Refusal('malformed_upload', 'file: must be only one')));
  parser.on('fieldsLimit', () => fail(new Refusal('malformed_upload', 'the form has too many fields')));
  parser.on('partsLimit', () => fail(new Refusal('malformed_upload', 'the form has too many parts')));
  parser.on('error', (error) => {
    fail(
      error instanceof Refusal
        ? error
        : new Refusal('malformed_upload', 'the form is malformed or cut off', { cause: error }),
    );
  });
}
