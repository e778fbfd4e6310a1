// Reads guards from the tests. A guard is a block of comments directly above the test that has to fail without it:
//   // guard limits-1: a code is compared at most five times
//   // src/features/verification/verification-repository.ts
//   // - attempts < :asker
//   // + true
//   it('refuses the sixth guess', …
// The file has the lines with a minus, in any format. The lines with a plus replace them. Another file with its lines
// follows where that one protects too. Above a describe, any of its tests has to fail.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const FORM = 'a guard is "guard name-1: sentence", a file, its lines with - and, in their place, those with +';
const BLOCK = /^guard ([a-z0-9-]+-\d+): (\S.*)((?:\n[\w.]\S*(?:\n-(?: .*)?)+(?:\n\+(?: .*)?)*)+)$/;
const PLACE = /^([\w.]\S*)\n((?:-.*\n?)+)((?:\+.*\n?)*)/gm;
/** Parts of a title that Jest replaces by a value of the table. */
const PLACEHOLDER = /%[sdifjoOp#$%]|\$(?:#|\w+(?:\.\w+)*)/;

/** Throws an error that names each malformed block, each that is not directly above a test, and each id used twice. */
export function guardsOf(root) {
  const faults = [];
  const guards = testFiles(root).flatMap((path) => guardsIn(path, readFileSync(join(root, path), 'utf8'), faults));
  const first = new Map();
  for (const { id, test, line } of guards) {
    if (first.has(id)) faults.push(`${test}:${line}: ${id} is also at ${first.get(id)}`);
    else first.set(id, `${test}:${line}`);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return guards;
}

function testFiles(root) {
  const folders = ['test', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/test`)];
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith('.ts'))
    .sort();
}

function guardsIn(test, text, faults) {
  const comments = text.split('\n').map((line) => /^\s*\/\/ ?(.*)$/.exec(line)?.[1]);
  const heads = [...comments.keys()].filter((index) => comments[index]?.startsWith('guard '));
  const isRead = heads.length > 0 && test.endsWith('.test.ts');
  const tests = isRead ? testsIn(ts.createSourceFile(test, text, ts.ScriptTarget.Latest, true)) : new Map();
  const guards = [];
  for (const [index, head] of heads.entries()) {
    const line = head + 1;
    const end = comments.indexOf(undefined, head);
    const block = comments.slice(head, Math.min(end, heads[index + 1] ?? end)).join('\n');
    const [, id, guard, places] = BLOCK.exec(block) ?? [];
    if (!id) faults.push(`${test}:${line}: ${FORM}`);
    else if (!tests.has(end)) faults.push(`${test}:${line}: ${id} is not directly above a test`);
    else guards.push({ id, guard, places: placesIn(places), test, line, ...tests.get(end) });
  }
  return guards;
}

function placesIn(text) {
  const side = (lines) => lines.replace(/^[+-] ?/gm, '').trimEnd();
  return [...text.matchAll(PLACE)].map(([, file, replace, by]) => ({ file, replace: side(replace), by: side(by) }));
}

/** Returns each test and suite by the index of its line, with a pattern of its full names and the code of its tests. */
function testsIn(tree) {
  const found = [];
  const visit = (node, names) => {
    const test = testOf(node, tree);
    if (!test || test.isSuite) ts.forEachChild(node, (child) => visit(child, test ? [...names, test.title] : names));
    if (test) found.push({ ...test, node, named: `^${[...names, test.title].join(' ')}${test.isSuite ? ' ' : '$'}` });
  };
  visit(tree, []);
  const codeOf = (suite) =>
    found
      .filter(({ isSuite, node }) => !isSuite && suite.pos <= node.pos && node.end <= suite.end)
      .map(({ node }) => node.getText(tree));
  return new Map(
    found.map(({ node, named }) => [
      tree.getLineAndCharacterOfPosition(node.getStart(tree)).line,
      { named, code: codeOf(node).join('\n') },
    ]),
  );
}

/** Recognises `it('…', () => …)`, `describe.each(…)('…', …)`, `itOnOneServer('…', …)` and similar statements. */
function testOf(node, tree) {
  if (!ts.isExpressionStatement(node) || !ts.isCallExpression(node.expression)) return undefined;
  const { expression, arguments: given } = node.expression;
  const called = calledBy(expression);
  const [title, ...others] = given;
  const isTitle = title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title));
  if (!called || !isTitle || !others.some((one) => ts.isArrowFunction(one) || ts.isFunctionExpression(one)))
    return undefined;
  const texts = ts.isTemplateExpression(title)
    ? [title.head.text, ...title.templateSpans.map(({ literal }) => literal.text)]
    : [title.text];
  const parts = ts.isCallExpression(expression) ? texts.flatMap((text) => text.split(PLACEHOLDER)) : texts;
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return { isSuite: called.getText(tree).includes('describe'), title: escaped.join('.*') };
}

/** Returns what is left without `.skip` and `.each(…)`: a name, or a choice in parentheses. Nothing for another method. */
function calledBy(expression) {
  if (ts.isIdentifier(expression) || ts.isParenthesizedExpression(expression)) return expression;
  if (ts.isCallExpression(expression)) return calledBy(expression.expression);
  const isPart = ts.isPropertyAccessExpression(expression) && /^(each|skip|only|failing)$/.test(expression.name.text);
  return isPart ? calledBy(expression.expression) : undefined;
}
