import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { capitalized } from './names';

const DOCS = join(__dirname, '../../../docs');
const read = (page: string) => readFileSync(join(DOCS, page), 'utf8');
const api = read('api.md');

/**
 * Returns the text of docs/api.md about an operation or endpoint: its row, the linked sections, and what to do after a
 * 503.
 */
export function toldOf(path: string, method?: 'get' | 'post'): string {
  const cell = rowOf(method ? `${method.toUpperCase()} ${path}` : path);
  const advice = method ? [] : [`After a 503, or no answer: ${sentences(adviceFor(path))}`];
  return [sentences(noteOf(cell)), ...linkedFrom(cell), ...advice].filter(Boolean).join('\n\n');
}

/** Returns the last cell of a row. */
function rowOf(name: string): string {
  const row = api.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
  if (row === undefined) throw new Error(`docs/api.md has no row for ${name}`);
  return row.split('|').at(-2)?.trim() ?? '';
}

/**
 * Returns the note in a cell of docs/api.md, without a closing "see [...]". The result's fields are left out, as the schema
 * has them, unless the note continues their sentence.
 */
function noteOf(cell: string): string {
  const [, remark, fields, rest] = /^– \((.*)\)$|^(`[[{][^`]*`)?(.*)$/.exec(cell) ?? [];
  const note = (remark ?? rest ?? '').replace(/(; |^)see \[.*$/, '');
  if (note === '' || note === '–') return '';
  // The note may continue a sentence that began with the fields.
  return fields !== undefined && note.startsWith(' ') ? `Result: ${fields}${note}` : note.replace(/^[,;]? /, '');
}

function linkedFrom(cell: string): string[] {
  return [...cell.matchAll(/\]\(([\w.-]*)(?:#([\w-]+))?\)/g)].map(([, page = '', anchor]) => {
    const text = page === '' ? api : read(page);
    return plain(anchor === undefined ? introductionOf(text) : sectionOf(text, anchor));
  });
}

function introductionOf(text: string): string {
  return text.slice(text.indexOf('\n'), text.indexOf('\n## '));
}

/** Returns the text between a heading and the next one. */
function sectionOf(text: string, anchor: string): string {
  const [, ...parts] = text.split(/^#+ /m);
  const found = parts.find((part) => part.split('\n')[0]?.toLowerCase().replaceAll(' ', '-') === anchor);
  if (found === undefined) throw new Error(`docs/api.md leads to #${anchor}, which is not there`);
  return found.slice(found.indexOf('\n'));
}

/** Returns a text without links, which do not work outside of docs, and without line breaks within paragraphs. */
function plain(text: string): string {
  const lines = text.trim().replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return lines.replace(/([^\n|])\n(?![\n|])/g, '$1 ');
}

/** Makes sentences of the parts of a cell between semicolons. */
function sentences(cell: string): string {
  const thoughts = plain(cell).split('; ').filter(Boolean);
  return thoughts.map((thought) => `${capitalized(thought).replace(/\.$/, '')}.`).join(' ');
}

function adviceFor(path: string): string {
  const rows = [...api.matchAll(/^\| ([\w/, ]+) \| (.*) \|$/gm)];
  const names = [path.replace('/user/', ''), path.slice(1)];
  const row = rows.find(([, tasks = '']) => tasks.split(', ').some((task) => names.includes(task)));
  return (row ?? rows.find(([, task]) => task === 'anything else'))?.[2] ?? '';
}
