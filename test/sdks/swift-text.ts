import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './page';

/** Without a compiler, checks only whether the generated client has what the page's code names. */
export function checkText(client: string, page: Page): void {
  const sources = join(client, 'Sources/AccountsClient');
  const source = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.swift'))
    .map((name) => readFileSync(join(sources, name), 'utf8'))
    .join('\n');
  const code = page.code('swift');
  const missing = [...namesMissing(source, code), ...callsMissing(source, code)];
  if (missing.length > 0) throw new Error(`the generated client has not:\n${missing.join('\n')}`);
  // Enumerations are only of numbers and strings, and few escapes occur.
  const [wrong] = /enum \w+: (Bool|Double)\b|"[^"\n]*\\[^\\"'0nrtu(\n].*/.exec(source) ?? [];
  if (wrong !== undefined) throw new Error(`no Swift: ${wrong}`);
}

/** Returns missing types of sync, forms of answers, and fields of rows. */
function namesMissing(source: string, code: string): string[] {
  const named = code.matchAll(/\b(Sync[A-Z]\w+|type[A-Z]\w+)\b|\b(?:row|changes|answer\.result|token|stored)\.(\w+)/g);
  const names = new Set([...named].map(([, one, field]) => one ?? field ?? ''));
  return [...names].filter((name) => !new RegExp(`\\b(class|struct|case|var) ${name}\\b`).test(source));
}

/** Returns missing functions and initialisers that the page calls, with the generated order of their arguments. */
function callsMissing(source: string, code: string): string[] {
  const flat = code.replace(/\s+/g, ' ');
  const calls = [...flat.matchAll(/\b(?:\w+API\.(\w+)|(CodeTo\w+|Credentials|SyncOptions|NewPortrait))\(/g)];
  return calls.flatMap(([call, name, type], index) => {
    const names = argumentsAt(flat.slice((calls[index]?.index ?? 0) + call.length));
    const declared = name === undefined ? initialiserOf(source, type ?? '') : functionOf(source, name);
    const inOrder = [...(declared ?? '').matchAll(/(\w+):/g)].map(([, one]) => one);
    const given = inOrder.filter((one) => names.includes(one ?? ''));
    return declared !== undefined && given.join() === names.join() ? [] : [`${call}${names.join()}) of ${declared}`];
  });
}

const functionOf = (source: string, name: string) => new RegExp(`func ${name}\\((.*?)\\) `).exec(source)?.[1];
const initialiserOf = (source: string, type: string) =>
  new RegExp(`^public struct ${type}:.*?public init\\((.*?)\\) {`, 'ms').exec(source)?.[1];

/** Returns the names of the arguments of a call whose bracket has just been opened. */
function argumentsAt(text: string): string[] {
  const names: string[] = [];
  let depth = 1;
  for (const [, bracket, name] of text.matchAll(/([([)\]])|(\w+): /g)) {
    if (bracket !== undefined) depth += '(['.includes(bracket) ? 1 : -1;
    else if (depth === 1 && name !== undefined) names.push(name);
    if (depth === 0) break;
  }
  return names;
}
