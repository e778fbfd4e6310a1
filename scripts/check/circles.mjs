import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const IMPORTED = /\b(?:from|import\(?)\s*'(\.[^']+)'/g;

/** Returns the imported files of each TypeScript file below the folder, also those of types. */
function importsIn(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
  return new Map(
    files.map((name) => {
      const file = join(folder, name);
      const named = [...readFileSync(file, 'utf8').matchAll(IMPORTED)].map(([, path]) => join(dirname(file), path));
      return [file, named.map((path) => [`${path}.ts`, join(path, 'index.ts')].find((one) => existsSync(one)))];
    }),
  );
}

/** Returns a path of files that leads back to its first file, or undefined if no files import each other. */
export function circleIn(folder) {
  return circleAmong(importsIn(folder));
}

/** Like `circleIn`, but for the folders in this one: each imports what its files import. */
export function circleOfFolders(folder) {
  const nameOf = (file) => relative(folder, file).split(sep)[0];
  const imports = new Map();
  for (const [file, imported] of importsIn(folder)) {
    const name = nameOf(file);
    const others = imported.filter((one) => one?.startsWith(folder + sep)).map(nameOf);
    imports.set(name, [...(imports.get(name) ?? []), ...others.filter((other) => other !== name)]);
  }
  return circleAmong(imports);
}

function circleAmong(imports) {
  const done = new Set();
  const visit = (file, path) => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return undefined;
}
