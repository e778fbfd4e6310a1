/** Of test/guards/guards.mjs. */
export interface Guard {
  id: string;
  /** What it sees to. */
  guard: string;
}

interface Row {
  cells: string[];
  line: string;
}

/** A guard as docs/security.md cites it. */
const CITED = /`([a-z0-9-]+-\d+)`/g;
/** What stands in a claim that no test can show. */
const OTHERWISE = /\bby (reading|this page): /;
const CLAIMED = ['yes', 'partly', 'not quite'];

/** What docs/security.md claims without a guard or a reason, and what it cites that is no guard. */
export function differences(page: string, guards: Guard[]): string[] {
  const attacks = rowsOf(page, '## What attackers want');
  const claimed = rowsOf(page, '## ASVS').filter(({ cells: [, met = ''] }) => CLAIMED.includes(met));
  const unshown = [...attacks, ...claimed].filter(({ line }) => citedIn(line).length === 0 && !OTHERWISE.test(line));
  const unknown = citedIn(page).filter((cited) => !guards.some(({ id }) => id === cited));
  return [
    ...unshown.map(({ cells: [claim = ''] }) => `neither guard nor reason: ${claim}`),
    ...unknown.map((id) => `no such guard: ${id}`),
  ];
}

export function citedIn(text: string): string[] {
  return [...text.matchAll(CITED)].map(([, id = '']) => id);
}

/** The rows of all tables of a section, without their heads. */
function rowsOf(page: string, heading: string): Row[] {
  const from = page.indexOf(heading);
  const end = page.indexOf('\n## ', from);
  const lines = page.slice(from, end < 0 ? undefined : end).split('\n');
  return lines
    .filter((line, index) => line.startsWith('| ') && !lines[index + 1]?.startsWith('|---'))
    .map((line) => ({
      cells: line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim()),
      line,
    }));
}
