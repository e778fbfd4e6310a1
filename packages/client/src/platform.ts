export function isNode(): boolean {
  const { document, process } = globalThis as { document?: unknown; process?: { versions?: { node?: string } } };
  return document === undefined && process?.versions?.node !== undefined;
}
