import { isNativeError } from 'node:util/types';
import pino, { type DestinationStream, type Logger } from 'pino';
import { codeOf } from './errors';

/** Buffer size. One write costs as much as making several lines. A line waits at most FLUSH_MS. */
const GATHERED_BYTES = 4_096;
const FLUSH_MS = 200;

/** Creates a logger of JSON lines. It logs only those fields of an error that help an operator, and no user data. */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino({ level, base: null, serializers: { err: errorForLog } }, destination);
}

/** Returns buffered standard output, which is flushed when the process exits. */
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
 * Picks fields by name: database errors carry rows in `detail`, HTTP clients whole requests. Blanks digits that could
 * be a phone number or a code, since vendors put them into their messages.
 */
export function errorForLog(error: unknown): LoggedError {
  // An error that ended a thread is a copy, which is not native.
  if (!(isNativeError(error) || error instanceof Error)) return { type: typeof error, message: 'not an error' };
  const logged: LoggedError = { type: error.name, message: blanked(error.message) };
  const code = codeOf(error);
  if (code !== undefined) logged.code = code;
  if ('constraint' in error && typeof error.constraint === 'string') logged.constraint = error.constraint;
  if (error.stack !== undefined) logged.stack = stackOf(error.stack);
  if (error.cause !== undefined) logged.cause = errorForLog(error.cause);
  return logged;
}

/** Returns the stack without the message, which has its own field. */
function stackOf(stack: string): string {
  const frames = stack.indexOf('\n    at ');
  return frames < 0 ? '' : stack.slice(frames + 1);
}

function blanked(message: string): string {
  return message.replace(/\+?\d{6,}/g, '…');
}
