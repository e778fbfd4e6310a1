// npm run prose: refuses words and openings that readers stumble over, in docs, comments, messages and names of tests.
// `npm run prose -- PATH …` looks at these files and folders only. CONTRIBUTING.md has the rules, with examples.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const LONGEST_SENTENCE = 35;
const LONGEST_SUBJECT = 60;
/** A cell with fewer words is a title. */
const SHORT_CELL = 7;
const SUBJECT = /^[a-z][a-z0-9 ,-]*: \S/;

/** Openings that name no thing. Headings, questions and the middle of a template may have them. */
const OPENING = /^(whoever|who|whose|what|whatever|those|none|nobody|of|so|the same)\b/i;

/** Each with what to write instead. */
const WORDS = [
  [/\banew\b/i, 'again'],
  [/\bmeanwhile\b/i, 'until then, in that time, since then'],
  [/\bwhoever\b/i, 'the user, client, sender who'],
  [/(?<!\b(leave|leaves|left|let)\b.{0,20})\balone\b/i, 'only, by itself'],
  [/\bbehind (it|this|that|them|one|an? answer|the answers?|another)\b/i, 'after'],
  [/\bcall(s|ed|ing)? off\b/i, 'abort'],
  [/\bonce more\b/i, 'again, retry'],
  [/\b(give|gives|gave|giving) way\b/i, 'yield, be evicted, be aborted'],
  [/\bon (its|their) way\b/i, 'pending, being sent'],
  [/\bone after (the other|another)\b/i, 'in turn, serially'],
  [/\bso many\b/i, 'at most N, the number of'],
  [/(?<!\bthere )\b(is|are|was|were|be) no (?!longer\b|more\b)\w+/i, 'is not a …'],
];

/** Files that nobody writes by hand, or that quote others. */
const LEFT_OUT =
  /^(LICENSE|scripts\/check\/prose\.mjs|test\/tools\/prose\.test\.ts|docs\/(admin-)?openapi\.json|packages\/client\/src\/document\.ts|package-lock\.json|.*\.svg)$/;
/** A guard above a test, whose lines after its sentence are a file's. */
const GUARD = /^guard \S+: (.*)(?:\n\S+(?:\n[-+].*)+)+/gm;
const CODE = /\.([cm]?[jt]sx?)$/;
const HASHED = /(^|\/)(\.env\.example|Dockerfile|Caddyfile|\.ci\/\w+|.*\.(ya?ml|sh|conf))$/;

/** What is wrong with a piece of prose. */
function faultsOf(text, { isHeading = false, isCell = false, isDoc = false, isPart = false } = {}) {
  const plain = text.replace(/`[^`]*`/g, 'X').replace(/"[^"]*"|“[^”]*”/g, 'X');
  const faults = WORDS.flatMap(([word, instead]) => {
    const found = word.exec(plain);
    return found ? [`"${found[0]}": write ${instead}`] : [];
  });
  for (const sentence of plain.split(/(?<=[.!?:;]["')]?)\s+(?=[A-Z"'(*[])/)) {
    const count = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
    const isTitle = isHeading || isPart || sentence.endsWith('?') || (isCell && count < SHORT_CELL);
    const opening = OPENING.exec(sentence.replace(/^[^a-z]+/i, ''));
    if (opening && !isTitle) faults.push(`begins with "${opening[0]}": name the subject`);
    if (isDoc && count > LONGEST_SENTENCE) faults.push(`${count} words: make it two sentences, or a list`);
  }
  return faults;
}

function* piecesOfDocs(source) {
  let isCode = false;
  let piece;
  const lines = source.split('\n');
  for (const [index, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    const begins = /^\s*([-*] |\d+\. |#|\||>|$)/.test(line) || /^\s*```/.test(line);
    if (begins && piece) {
      yield piece;
      piece = undefined;
    }
    if (isCode || /^\s*(```|<|$)/.test(line)) continue;
    const text = line.replace(/\]\([^)]*\)/g, ']').trim();
    if (text.startsWith('|')) {
      for (const cell of text.split(/(?<!\\)\|/))
        if (cell.trim()) yield { line: index + 1, text: cell.trim(), isDoc: true, isCell: true };
    } else if (text.startsWith('#')) {
      yield { line: index + 1, text, isHeading: true };
    } else if (piece) {
      piece.text += ` ${text}`;
    } else {
      piece = { line: index + 1, text: text.replace(/^([-*]|\d+\.)\s+/, ''), isDoc: true };
    }
  }
  if (piece) yield piece;
}

function* piecesOfCode(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lineAt = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  for (const { 0: comment, index } of source.matchAll(
    /\/\*\*[^]*?\*\/|(?:(?<=^|\n)[ \t]*\/\/.*\n?)+|(?<=[;,{(] )\/\/ .*/g,
  )) {
    const text = comment
      .replace(/^\s*(\/\*\*|\*\/|\*|\/\/)[ \t]?/gm, '')
      .replace(/\*\/$/, '')
      .replace(GUARD, '\n$1\n');
    for (const part of text.split(/\n\s*\n/)) yield { line: lineAt(index), text: part.replace(/\s+/g, ' ').trim() };
  }
  const texts = [];
  (function visit(node) {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const isProse = /^[^{}<>=;|]*$/.test(node.text) && node.text.trim().split(/\s+/).length > 3;
      if (isProse)
        texts.push({ line: lineAt(node.getStart()), text: node.text, isPart: ts.isTemplateMiddleOrTemplateTail(node) });
    }
    ts.forEachChild(node, visit);
  })(file);
  yield* texts;
}

function* piecesOfHashes(source) {
  for (const { 0: comment, index } of source.matchAll(/(?:^[ \t]*# .*\n?)+/gm)) {
    const line = source.slice(0, index).split('\n').length;
    yield {
      line,
      text: comment
        .replace(/^\s*#\s?/gm, '')
        .replace(/\s+/g, ' ')
        .trim(),
    };
  }
}

function faultsOfFile(path, source) {
  const pieces = path.endsWith('.md')
    ? piecesOfDocs(source)
    : CODE.test(path)
      ? piecesOfCode(path, source)
      : piecesOfHashes(source);
  return [...pieces].flatMap(({ line, text, ...kind }) =>
    faultsOf(text, kind).map((fault) => `${path}:${line}: ${fault}: ${text.slice(0, 90)}`),
  );
}

/** A subject tells a user of the system what changed. */
function faultOfSubject(subject) {
  if (subject.length > LONGEST_SUBJECT) return `${subject.length} characters: ${LONGEST_SUBJECT} at most`;
  return SUBJECT.test(subject) ? undefined : 'begins with its area, as in "uploads: do not redirect browsers"';
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  return status === 0 ? stdout.split('\n').filter(Boolean) : [];
}

function main(paths) {
  const files = git('ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths).filter(
    (path) =>
      existsSync(path) && !LEFT_OUT.test(path) && (path.endsWith('.md') || CODE.test(path) || HASHED.test(path)),
  );
  const faults = files.flatMap((path) => faultsOfFile(path, readFileSync(path, 'utf8')));
  // In a clone: what is not yet in its origin.
  const subjects = git('log', '--no-merges', '--format=%s', 'origin/main..HEAD');
  for (const subject of subjects) {
    const fault = faultOfSubject(subject);
    if (fault) faults.push(`${subject}: ${fault}`);
  }
  for (const fault of faults) console.error(fault);
  console.log(`prose: ${files.length} files, ${faults.length} faults`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

main(process.argv.slice(2));
