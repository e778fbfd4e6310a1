/** The embedded database cannot start. The message is one line for the operator, with the remedy in it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
