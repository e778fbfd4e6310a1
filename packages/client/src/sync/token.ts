/** Returns a token that no other store has. It is not a secret. */
export function newToken(): string {
  return Math.random().toString(36).slice(2) + Date.now().toString(36);
}
