/** Returns a name that follows from the path, so that it does not change: userFindByRegionAndPhone. */
export function operationId(path: string): string {
  const words: string[] = [];
  for (const word of path.split('/').filter(Boolean)) {
    if (!word.startsWith(':')) words.push(...word.split('_'));
    else words.push(words.at(-2) === 'by' ? 'and' : 'by', word.slice(1));
  }
  return words.map((word, index) => (index === 0 ? word : capitalized(word))).join('');
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Returns a path as OpenAPI writes it. */
export function templated(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

export function sentence(words: string): string {
  return `${capitalized(words)}.`;
}
