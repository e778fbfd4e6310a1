// Lets a process load TypeScript by require(). A source is compiled when it is first loaded, and then kept in .cache for
// later processes. Where nothing can be kept, each process compiles its sources itself.
const { createHash, randomUUID } = require('node:crypto');
const { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rm, rmSync, writeFileSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join, relative } = require('node:path');

const ROOT = join(__dirname, '../..');
const CACHE = join(ROOT, '.cache');
const COMPILED = join(CACHE, 'compiled');
const OPTIONS = {
  loader: 'ts',
  format: 'cjs',
  platform: 'node',
  target: 'node22.18',
  // As require(), import() finds files whose names have no extension.
  supported: { 'dynamic-import': false },
  sourcemap: 'inline',
  sourcesContent: false,
};
/** Everything besides a source that its compiled form depends on. */
const COMPILER = require('esbuild/package.json').version + JSON.stringify(OPTIONS);

enableCompileCache(join(CACHE, 'v8'));
process.setSourceMapsEnabled(true);
require.extensions['.ts'] = (module, file) => module._compile(compiled(file), file);

function compiled(file) {
  const source = readFileSync(file);
  const name = relative(ROOT, file);
  // One file for each source, which a changed source replaces.
  const kept = join(COMPILED, encodeURIComponent(name));
  // The last line, so that a file without its end is not used.
  const end = `//${digest(COMPILER, source)}`;
  const found = textOf(kept);
  if (found.endsWith(end)) return found;
  // Loaded only now, since most processes find all sources compiled.
  const { code } = require('esbuild').transformSync(source.toString(), { sourcefile: file, ...OPTIONS });
  // Sources elsewhere are those of a test's folder, which has another name each time.
  if (!name.startsWith('..')) keep(kept, code + end);
  return code;
}

function digest(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('base64url');
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

let hasTidied = false;

/** Writes it under a name of its own first: other processes may read or write the same source. */
function keep(file, text) {
  const written = join(CACHE, `compiled-${randomUUID()}`);
  try {
    mkdirSync(COMPILED, { recursive: true });
    writeFileSync(written, text);
    renameSync(written, file);
    if (!hasTidied) tidy();
  } catch {
    // The disk is full, or this user may not write there.
    rm(written, { force: true }, () => undefined);
  }
}

/** Removes what is kept of sources that are gone. */
function tidy() {
  hasTidied = true;
  for (const kept of readdirSync(COMPILED))
    if (!existsSync(join(ROOT, decodeURIComponent(kept)))) rmSync(join(COMPILED, kept), { force: true });
}
