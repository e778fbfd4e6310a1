/** Values that would turn a path into the path of another operation, because `fetch` resolves dots. */
const NOT_SEGMENTS = new Set(['', '.', '..']);

/**
 * Returns the path with its parameters filled in, and the other fields as the body. Returns undefined for a BigInt,
 * half of a character, or a parameter that is not a segment of a path.
 */
export function addressed(path: string, input: Record<string, unknown>): { address: string; body: string } | undefined {
  const rest = { ...input };
  try {
    const address = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const { [name]: value } = rest;
      delete rest[name];
      const segment = String(value);
      if (value === undefined || NOT_SEGMENTS.has(segment)) throw new RangeError(`${name} cannot be part of a path`);
      return encodeURIComponent(segment);
    });
    return { address, body: JSON.stringify(rest) };
  } catch {
    return undefined;
  }
}
