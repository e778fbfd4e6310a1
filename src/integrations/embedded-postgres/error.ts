/** The embedded database cannot be had; the message is one line for the operator, with the remedy in it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** The code of a failed system call (ENOENT, EACCES, …) or an SQLSTATE; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  // By its shape: under a test runner, Node's own errors are of another realm's Error.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** For a step that may fail in one expected way, such as reading a file that need not be there. */
export async function orWhen<T, U>(code: string, instead: U, step: Promise<T>): Promise<T | U> {
  try {
    return await step;
  } catch (error) {
    if (errorCode(error) === code) return instead;
    throw error;
  }
}
