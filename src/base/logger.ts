import { isNativeError } from 'node:util/types';
import pino, { type DestinationStream, type Logger } from 'pino';
import { codeOf } from './errors';

/** Lines are written together, since a write costs as much as making several lines. None waits longer than FLUSH_MS. */
const GATHERED_BYTES = 4_096;
const FLUSH_MS = 200;

/** JSON lines. Of an error only the fields that help an operator are logged, and no user's data. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino({ level, base: null, serializers: { err: errorForLog } }, destination);
}

/** Also writes the last lines when the process exits. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, minLength: GATHERED_BYTES, sync: true });
  setInterval(() => output.flush(), FLUSH_MS).unref();
  process.once('exit', () => output.flushSync());
  return output;
}

interface LoggedError {
  type: string;
  message: string;
  code?: string;
  constraint?: string;
  stack?: string;
  cause?: LoggedError;
}

/**
 * Named fields only: database errors carry rows in `detail`, HTTP clients whole requests. Digits that could be a phone
 * number or a code are blanked, since vendors put them into their messages.
 */
export function errorForLog(error: unknown): LoggedError {
  if (!isNativeError(error)) return { type: typeof error, message: 'not an error' };
  const logged: LoggedError = { type: error.name, message: blanked(error.message) };
  const code = codeOf(error);
  if (code !== undefined) logged.code = code;
  if ('constraint' in error && typeof error.constraint === 'string') logged.constraint = error.constraint;
  if (error.stack !== undefined) logged.stack = stackOf(error.stack);
  if (error.cause !== undefined) logged.cause = errorForLog(error.cause);
  return logged;
}

/** Without the message, which has a field of its own. */
function stackOf(stack: string): string {
  const frames = stack.indexOf('\n    at ');
  return frames < 0 ? '' : stack.slice(frames + 1);
}

function blanked(message: string): string {
  return message.replace(/\+?\d{6,}/g, '…');
}
