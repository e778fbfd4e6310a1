import type { Cell, Answer, Row } from './command';

/** Formats an answer for a terminal: each title with its lines, rows as a table. */
export function asText(answer: Answer): string {
  return Object.entries(answer)
    .map(([title, lines]) => [title, ...linesOf(lines).map((line) => `  ${line}`.trimEnd())].join('\n'))
    .join('\n\n');
}

/** Formats an answer as JSON whose texts change nothing in a terminal: JSON itself escapes only some controls. */
export function asJson(answer: Answer): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(answer, null, 2).replace(CONTROLS, (one) => (one === '\n' ? one : escaped(one)));
}

function linesOf(lines: string[] | Row[]): string[] {
  if (lines.length === 0) return ['none'];
  const rows = lines.filter((line): line is Row => typeof line !== 'string');
  if (rows.length === 0) return lines as string[];
  return rows.length === 1 ? listOf(rows[0] ?? {}) : tableOf(rows);
}

/** One row, with a line for each of its cells. */
function listOf(row: Row): string[] {
  const width = Math.max(...Object.keys(row).map(({ length }) => length));
  return Object.entries(row).map(([name, cell]) => `${name.padEnd(width)}  ${cellText(cell)}`);
}

function tableOf(rows: Row[]): string[] {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => cellText(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

function cellText(cell: Cell): string {
  return cell === null || cell === undefined ? '' : inOneLine(String(cell));
}

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/gu;

/** Returns a text that stays in its line, whatever a client has sent as its user agent or nickname. */
export function inOneLine(text: string): string {
  return text.replace(CONTROLS, '?');
}
