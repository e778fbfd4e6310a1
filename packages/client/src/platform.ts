export function isNode(): boolean {
  const { document, process } = globalThis as { document?: unknown; process?: { versions?: { node?: string } } };
  return document === undefined && process?.versions?.node !== undefined;
}

/** Returns whether the platform gives an answer only as a whole, like React Native: its progress cannot be seen. */
export function givesWholeAnswers(): boolean {
  const { Response } = globalThis as { Response?: { prototype: object } };
  return Response === undefined || !('body' in Response.prototype);
}
