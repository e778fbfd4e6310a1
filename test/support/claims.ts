/** A guard, as test/guards/read.mjs returns it. */
export interface Guard {
  id: string;
}

interface Row {
  cells: string[];
  line: string;
}

/** A guard as docs/security.md cites it. */
const CITED = /`([a-z0-9-]+-\d+)`/g;
/** Marks a claim that no test can show. */
const OTHERWISE = /\bby (reading|this page): /;
const CLAIMED = ['yes', 'partly', 'not quite'];
const LONGEST_ANSWER = 25;

/** Returns the claims of docs/security.md without a guard or a reason, and the guards that it cites but that don't exist. */
export function faultsOfClaims(page: string, guards: Guard[]): string[] {
  const claimed = rowsOf(page, '## ASVS').filter(({ cells: [, met = ''] }) => CLAIMED.includes(met));
  const claims = [
    ...attacksOf(page).map(({ cells: [claim = '', , proof = ''] }) => ({ claim, proof })),
    ...claimed.map(({ cells: [claim = ''], line }) => ({ claim, proof: line })),
  ];
  const unshown = claims.filter(({ proof }) => guardsCitedIn(proof).length === 0 && !OTHERWISE.test(proof));
  const unknown = guardsCitedIn(page).filter((cited) => !guards.some(({ id }) => id === cited));
  return [
    ...unshown.map(({ claim }) => `neither guard nor reason: ${claim}`),
    ...unknown.map((id) => `no such guard: ${id}`),
  ];
}

/** Returns the rows of attacks that don't have three cells, or whose answer is long. */
export function malformed(page: string): string[] {
  return attacksOf(page).flatMap(({ cells }) => {
    const [attack = '', answer = ''] = cells;
    if (cells.length !== 3) return [`${cells.length} cells: ${attack}`];
    const words = wordsIn(answer);
    return words > LONGEST_ANSWER ? [`${words} words: ${attack}`] : [];
  });
}

export function guardsCitedIn(text: string): string[] {
  return [...text.matchAll(CITED)].map(([, id = '']) => id);
}

export function attacksOf(page: string): Row[] {
  return rowsOf(page, '## Attacks and answers');
}

/** Counts a piece of code, and a link, as one word. */
function wordsIn(text: string): number {
  const plain = text.replace(/`[^`]*`/g, 'code').replace(/\]\([^)]*\)/g, ']');
  return plain.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

/** Returns the rows of all tables of a section, without the heads. */
function rowsOf(page: string, heading: string): Row[] {
  const from = page.indexOf(`\n${heading}`) + 1;
  const end = page.indexOf('\n## ', from);
  const lines = page.slice(from, end < 0 ? undefined : end).split('\n');
  return lines
    .filter((line, index) => line.startsWith('| ') && !lines[index + 1]?.startsWith('|---'))
    .map((line) => ({
      cells: line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
      line,
    }));
}
