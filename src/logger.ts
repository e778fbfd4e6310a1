import { isNativeError } from 'node:util/types';
import pino, { type DestinationStream, type Logger } from 'pino';

/** JSON lines. Errors are reduced to what helps an operator; nothing of a user's goes through. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: null, serializers: { err: errorForLog } };
  return destination ? pino(options, destination) : pino(options);
}
import { codeOf } from './errors';

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

/** Without the message, which stands above already. */
function stackOf(stack: string): string {
  const frames = stack.indexOf('\n    at ');
  return frames < 0 ? '' : stack.slice(frames + 1);
}

function blanked(message: string): string {
  return message.replace(/\+?\d{6,}/g, '…');
}
