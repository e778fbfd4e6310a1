import { codeOf } from '../../errors';

/** The embedded database cannot be had; the message is one line for the operator, with the remedy in it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** For a step that may fail in one expected way, such as reading a file that need not be there. */
export async function orWhen<T, U>(code: string, instead: U, step: Promise<T>): Promise<T | U> {
  try {
    return await step;
  } catch (error) {
    if (codeOf(error) === code) return instead;
    throw error;
  }
}
