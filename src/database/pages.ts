/** Rows per statement: a few milliseconds of work, which delay all other statements. */
export const PAGE = 500;

/** Yields pages of at most `size` rows in the order of a key, each starting after the last row of the page before. */
export async function* pagesOf<Row>(
  size: number,
  read: (after: string) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): AsyncGenerator<Row[]> {
  let last: Row | undefined;
  do {
    const page = await read(last ? keyOf(last) : '');
    yield page;
    last = page.length === size ? page.at(-1) : undefined;
  } while (last);
}
