import { readFileSync } from 'node:fs';
import { codeOf } from '../base/errors';

type Environment = Record<string, string | undefined>;

interface WithFiles {
  env: Environment;
  mistakes: string[];
}

/** Reads secrets from files: NAME_FILE is the path of a file with the secret NAME. */
export function readSecretFiles(given: Environment, names: readonly string[]): WithFiles {
  const env = { ...given };
  const mistakes = names.map((name) => {
    const path = given[`${name}_FILE`];
    if (!path) return undefined;
    if (given[name]) return `${name}: set this or ${name}_FILE, and not both`;
    try {
      env[name] = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
    } catch (error) {
      // Leaves out the path, which may be a secret that was put there by mistake.
      return `${name}_FILE: must be the path of a file that can be read (${codeOf(error) ?? 'unknown error'})`;
    }
    return env[name] === '' ? `${name}_FILE: must be the path of a file that is not empty` : undefined;
  });
  return { env, mistakes: mistakes.filter((mistake) => mistake !== undefined) };
}
