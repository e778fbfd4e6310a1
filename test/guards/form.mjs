// A guard's form: a hash of what its proof depends on. When it changes, the guard has to be proved again.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';

/** Hashes the guard itself, each function or class member that it changes, and the tests that it names. */
export function formOf(root, guard) {
  const { file, replace, also = [], test, named } = guard;
  // Neither its id nor its sentence changes its proof.
  const hash = createHash('sha256').update(
    JSON.stringify([file, replace, guard.by, also, test.replace(/\.test$/, ''), named]),
  );
  for (const place of [{ file, replace }, ...also]) {
    hash.update(enclosing(join(root, place.file), place.replace));
    for (const path of laterMigrations(root, place.file)) hash.update(readFileSync(path));
  }
  for (const path of testFiles(root, test)) hash.update(testsNamed(path, named));
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

/** Says what to do about a source line of a guard that is not found exactly once. */
export function foundOf({ id, test }, { file, replace }, source) {
  const count = placesOf(replace, source).length;
  const missing = replace.split('\n').find((line) => line.trim() !== '' && placesOf(line, source).length === 0);
  const what =
    count > 1 ? `${count} times: ${replace}` : `no longer: ${missing ?? `${replace} (each line, but not together)`}`;
  const where = `${id} in test/guards/${test.split('/')[1]}.mjs`;
  return `${file} has ${what}\nQuote the line in ${where} as it is now; where the protection has gone for good, take the guard out, and what docs/security.md says of it`;
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

function testFiles(root, test) {
  const folder = dirname(join(root, test));
  const names = readdirSync(folder).filter((name) => name.startsWith(basename(test)) && name.endsWith('.test.ts'));
  return names.sort().map((name) => join(folder, name));
}

/** Returns the code of tests whose full name matches, as in Jest. A name with placeholders needs the whole file. */
function testsNamed(path, named) {
  const { text, tree } = parse(path);
  const found = [];
  const pattern = new RegExp(named, 'i');
  const walk = (node, names) => {
    const call = testCallOf(node);
    const path = call ? [...names, call.name] : names;
    if (call?.isTest && pattern.test(path.join(' '))) found.push(node.getText(tree));
    else ts.forEachChild(node, (child) => walk(child, path));
  };
  walk(tree, []);
  return tokensOf(found.length > 0 ? found.join('\n') : text).join(' ');
}

/** Recognises `it('…', …)`, `describe.each(…)('…', …)` and similar calls. */
function testCallOf(node) {
  if (!ts.isCallExpression(node) || !node.arguments[0] || !ts.isStringLiteralLike(node.arguments[0])) return undefined;
  const [, kind] = /^(describe|it|test)\b/.exec(node.expression.getText()) ?? [];
  return kind && { name: node.arguments[0].text, isTest: kind !== 'describe' };
}
