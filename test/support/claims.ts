/** Of test/guards/guards.mjs. */
export interface Guard {
  guard: string;
  test: string;
  named: string;
  /** Numbers of the ASVS, and first words of attacks. */
  claims?: string[];
}

interface Row {
  cells: string[];
  line: string;
}

/** A test as docs/security.md cites it. */
const CITED = /`(test\/[a-z/-]+\.test\.ts)`: "([^"]+)"/g;
/** What stands in a claim that no test can show. */
const OTHERWISE = /\bby (reading|this page): /;
const CLAIMED = ['yes', 'partly', 'not quite'];

/** What docs/security.md claims and no guard shows, and what guards say that they show and it does not claim. */
export function differences(page: string, guards: Guard[]): string[] {
  const attacks = rowsOf(page, '## What attackers want').map(({ cells: [attack = ''] }) => attack);
  const claimed = rowsOf(page, '## ASVS').filter(({ cells: [, met = ''] }) => CLAIMED.includes(met));
  const known = claimed.flatMap(({ cells: [numbers = ''] }) => numbersIn(numbers));
  return [
    ...attacks.filter((attack) => !guards.some((guard) => bears(guard, attack))).map((attack) => `no guard: ${attack}`),
    ...claimed.flatMap((row) => differencesOf(row, guards)),
    ...guards
      .flatMap(({ claims = [] }) => claims)
      .filter((claim) => !known.includes(claim) && !attacks.some((attack) => attack.startsWith(claim)))
      .map((claim) => `only a guard: ${claim}`),
    ...citationsIn(page)
      .filter((cited) => !guards.some((guard) => citationOf(guard) === cited))
      .map((cited) => `cited, and of no guard: ${cited}`),
  ];
}

export function citationsIn(text: string): string[] {
  return [...text.matchAll(CITED)].map(([, file = '', words = '']) => `${file}: ${words}`);
}

function differencesOf({ cells: [numbers = ''], line }: Row, guards: Guard[]): string[] {
  const cited = new Set(citationsIn(line));
  const ids = numbersIn(numbers);
  const shown = guards.filter(({ claims = [] }) => claims.some((claim) => ids.includes(claim)));
  if (cited.size === 0 && shown.length === 0)
    return OTHERWISE.test(line) ? [] : [`${numbers}: neither test nor reason`];
  return [
    ...ids.filter((id) => !shown.some(({ claims = [] }) => claims.includes(id))).map((id) => `${id}: no guard`),
    ...[...cited]
      .filter((one) => !shown.some((guard) => citationOf(guard) === one))
      .map((one) => `${numbers}: no guard for ${one}`),
    ...shown.filter((guard) => !cited.has(citationOf(guard))).map(({ guard }) => `${numbers}: not cited, "${guard}"`),
  ];
}

function bears({ claims = [] }: Guard, attack: string): boolean {
  return claims.some((claim) => attack.startsWith(claim));
}

function citationOf({ test, named }: Guard): string {
  return `${test.replace(/\.test$/, '')}.test.ts: ${named}`;
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

/** "2.2.1, 3.3.1–3.3.3" is four numbers. */
function numbersIn(text: string): string[] {
  return text.split(', ').flatMap((part) => {
    const [first = '', last = first] = part.split('–');
    const [stem, from, to] = [first.replace(/\d+$/, ''), lastPart(first), lastPart(last)];
    return Array.from({ length: to - from + 1 }, (_, index) => `${stem}${from + index}`);
  });
}

function lastPart(number: string): number {
  return Number(/\d+$/.exec(number)?.[0]);
}
