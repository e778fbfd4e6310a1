import { PAGE, pagesOf } from './pages';

/** Row with its time in microseconds, which are more exact than a Date, and faster to read. */
export interface TimedRow {
  id: string;
  updatedMicros: number;
}

/** Reads all rows in pages by id, and sorts them newest first. Rows of the same moment stay in the order of ids. */
export async function newestFirst<Row extends TimedRow>(
  read: (after: string) => Promise<Row[]>,
): Promise<(Omit<Row, 'updatedMicros'> & { updatedAt: string })[]> {
  const rows: Row[] = [];
  for await (const page of pagesOf(PAGE, read, ({ id }) => id)) rows.push(...page);
  return rows
    .sort((a, b) => b.updatedMicros - a.updatedMicros)
    .map(({ updatedMicros, ...row }) => ({ ...row, updatedAt: isoTimeOf(updatedMicros) }));
}

/** Formats a time for clients. */
function isoTimeOf(micros: number): string {
  return new Date(Math.floor(micros / 1_000)).toISOString();
}
