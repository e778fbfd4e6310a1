import { PAGE, pagesOf } from './pages';

/** As it is read: a time in microseconds, which tells apart what a Date does not, and is read faster. */
export interface TimedRow {
  id: string;
  updatedMicros: number;
}

/** All rows, read by pages in the order of their ids. Those of one moment stay in that order. */
export async function newestFirst<Row extends TimedRow>(
  read: (after: string) => Promise<Row[]>,
): Promise<(Omit<Row, 'updatedMicros'> & { updatedAt: string })[]> {
  const rows: Row[] = [];
  for await (const page of pagesOf(PAGE, read, ({ id }) => id)) rows.push(...page);
  return rows
    .sort((a, b) => b.updatedMicros - a.updatedMicros)
    .map(({ updatedMicros, ...row }) => ({ ...row, updatedAt: shown(updatedMicros) }));
}

/** As clients are shown times. */
function shown(micros: number): string {
  return new Date(Math.floor(micros / 1_000)).toISOString();
}
