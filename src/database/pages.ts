/** Rows of one statement: a few milliseconds of work, for which all others wait. */
export const PAGE = 500;

/** Pages of at most so many rows in the order of a key, each after the last row of the one before, until one is not full. */
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
