/** Minimum lengths. In short names one or two letters make another word: HOST and COST, HOST and HOME. */
const ONE_WRONG = 6;
const TWO_WRONG = 8;

/** Returns the known word that a misspelt one probably means. */
export function nearest(word: string, known: string[]): string | undefined {
  const [first] = known
    .map((one) => ({ one, distance: distanceOf(word, one) }))
    .filter(({ one, distance }) => distance <= wrongLetters(Math.min(word.length, one.length)))
    .sort((one, other) => one.distance - other.distance);
  return first?.one;
}

/** Returns the end of a message that names what is probably meant, or nothing. */
export function hintOf(meant: string | undefined): string {
  return meant === undefined ? '' : `: did you mean ${meant}?`;
}

function wrongLetters(length: number): number {
  if (length < ONE_WRONG) return 0;
  return length < TWO_WRONG ? 1 : 2;
}

/** Counts letters that are missing, superfluous or different, and swapped neighbours. */
function distanceOf(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return Infinity;
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const distanceAt = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const ways = [
        distanceAt(row - 1, column) + 1,
        distanceAt(row, column - 1) + 1,
        distanceAt(row - 1, column - 1) + (isSame ? 0 : 1),
      ];
      if (isSwapped) ways.push(distanceAt(row - 2, column - 2) + 1);
      rows[row]?.push(Math.min(...ways));
    }
  }
  return distanceAt(one.length, other.length);
}
