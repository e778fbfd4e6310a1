export function isNode(): boolean {
  const { document, process } = globalThis as { document?: unknown; process?: { versions?: { node?: string } } };
  return document === undefined && process?.versions?.node !== undefined;
}

/** React Native gives an answer when all of it is there: until then nobody sees whether it is coming. */
export function givesWholeAnswers(): boolean {
  const { Response } = globalThis as { Response?: { prototype: object } };
  return Response === undefined || !('body' in Response.prototype);
}
