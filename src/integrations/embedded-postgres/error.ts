/** The embedded database cannot be had; the message is one line for the operator, with the remedy in it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
