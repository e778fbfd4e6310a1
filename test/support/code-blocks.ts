/** A fenced block of a page, with the word after its first fence. */
export interface CodeBlock {
  kind: string;
  text: string;
}

export function codeBlocks(page: string): CodeBlock[] {
  const found = page.matchAll(/^```(\S*)[^\n]*\n(.*?)^```$/gms);
  return [...found].map(([, kind = '', text = '']) => ({ kind, text }));
}

/** Returns the blocks of one kind, in their order. */
export function codeOfKind(page: string, kind: string): string[] {
  return codeBlocks(page)
    .filter((block) => block.kind === kind)
    .map(({ text }) => text);
}

/** Returns the inline code of sentences. */
export function codesInSentences(page: string): string[] {
  const sentences = page.replace(/^```.*?^```$/gms, '');
  return [...sentences.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' '));
}
