/** The embedded database cannot start. The message is one line for the operator, with the remedy in it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Of an error of the system or of PostgreSQL. Without instanceof: under a test runner these are of another realm. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? String(error.code) : undefined;
}
