/** The embedded database cannot start. The message is one line for the operator, including the remedy. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/**
 * Returns the code of an error of the system or PostgreSQL. Does not use instanceof: a test runner has another realm.
 */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? String(error.code) : undefined;
}
