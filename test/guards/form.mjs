// A guard's form: a hash of what its proof depends on. When it changes, the guard has to be proved again.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';

/** Hashes the guard itself, each function or class member that it changes, and the tests that it stands on. */
export function formOf(root, { places, code }) {
  // Neither its id nor its sentence changes its proof, nor does the file or the suite of its test.
  const hash = createHash('sha256').update(JSON.stringify([places, tokensOf(code)]));
  for (const { file, replace } of places) {
    hash.update(enclosing(join(root, file), replace));
    for (const path of laterMigrations(root, file)) hash.update(readFileSync(path));
  }
  return hash.digest('base64url').slice(0, 16);
}

/** Finds the tokens of a text in a source, with any white space between them, with or without a comma at a list's end. */
export function placesOf(text, source) {
  const tokens = tokensOf(text).filter((token, index, all) => token !== ',' || !/^[)\]}]$/.test(all[index + 1] ?? ''));
  const escaped = tokens.map((token) => (/^[)\]}]$/.test(token) ? `,?\\s*\\${token}` : token.replace(/\W/, '\\$&')));
  return [...source.matchAll(new RegExp(escaped.join('\\s*'), 'g'))].map(({ 0: found, index }) => {
    return { from: index, to: index + found.length };
  });
}

/** Returns the source with the place replaced, as far indented as it was, or nothing if it does not have the place once. */
export function madeOf({ replace, by }, source) {
  const [place, ...others] = placesOf(replace, source);
  if (!place || others.length > 0) return undefined;
  const widthOf = (text) => /^ */.exec(text)[0].length;
  const line = source.slice(source.lastIndexOf('\n', place.from - 1) + 1);
  const indent = ' '.repeat(Math.max(0, widthOf(line) - widthOf(replace)));
  const made = by.trimStart().replace(/\n(?=.)/g, `\n${indent}`);
  return source.slice(0, place.from) + made + source.slice(place.to);
}

/** Says what to do about a source line of a guard that is not found exactly once. */
export function foundOf({ id, test, line }, { file, replace }, source) {
  const count = placesOf(replace, source).length;
  const missing = replace.split('\n').find((one) => one.trim() !== '' && placesOf(one, source).length === 0);
  const what =
    count > 1 ? `${count} times: ${replace}` : `no longer: ${missing ?? `${replace} (each line, but not together)`}`;
  return `${file} has ${what}\nQuote the line in ${id} at ${test}:${line} as it is now; where the protection has gone for good, take the guard out, and what docs/security.md says of it`;
}

/** Returns the words and signs of a text, which do not depend on its format. */
function tokensOf(text) {
  return text.match(/\w+|[^\s\w]/g) ?? [];
}

const parsed = new Map();

function parse(path) {
  const known = parsed.get(path);
  if (known) return known;
  const text = readFileSync(path, 'utf8');
  const tree = /\.[cm]?[jt]s$/.test(path) ? ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) : undefined;
  const file = { text, tree };
  parsed.set(path, file);
  return file;
}

/** Returns the statement, class member or table row around the text. In other languages it is the whole file. */
function enclosing(path, replaced) {
  const { text, tree } = parse(path);
  const [place] = placesOf(replaced, text);
  const unit = tree && place && unitAround(tree, place);
  return tokensOf(unit ? unit.getText(tree) : text).join(' ');
}

function unitAround(tree, { from, to }) {
  const holds = (node) => node.getStart(tree) <= from && to <= node.end;
  const statement = tree.statements.find(holds);
  return (statement && partsOf(statement).find(holds)) || statement;
}

/** Returns the members of a class, or the rows of a constant table. */
function partsOf(statement) {
  if (ts.isClassDeclaration(statement)) return statement.members;
  let value = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0].initializer : undefined;
  while (value && (ts.isAsExpression(value) || ts.isSatisfiesExpression(value))) value = value.expression;
  return value && ts.isObjectLiteralExpression(value) ? value.properties : [];
}

/** Returns later migrations: they may replace what an earlier one made, whose guard then protects nothing. */
function laterMigrations(root, file) {
  if (dirname(file) !== 'migrations') return [];
  const names = readdirSync(join(root, 'migrations')).filter(
    (name) => name.endsWith('.up.sql') && name > basename(file),
  );
  return names.sort().map((name) => join(root, 'migrations', name));
}
