import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT } from './paths';

/** A provider's own codes of failures, some of which have six digits like the codes of users. */
const OF_PROVIDERS = /"providerCode":\d+/g;

const secretsFile = join(OUTPUT, `secrets-${process.env.JEST_WORKER_ID ?? '0'}.txt`);

/** Remembers a value that must never be logged. The logs of the whole run are searched at its end. */
export function rememberSecret(value: string): string {
  appendFileSync(secretsFile, `${value}\n`);
  return value;
}

export function secretsInLogs(directory = OUTPUT): { searched: number; found: string[] } {
  const files = existsSync(directory) ? readdirSync(directory) : [];
  const secrets = new Set(
    files.filter((file) => file.startsWith('secrets-')).flatMap((file) => lines(directory, file)),
  );
  const found: string[] = [];
  for (const file of files.filter((name) => name.startsWith('log-')))
    for (const line of lines(directory, file))
      for (const word of words(line)) if (secrets.has(word)) found.push(`${word} in ${line}`);
  return { searched: secrets.size, found };
}

/** Returns words that may be tokens, JWTs, cookies or codes, and the parts between their dots and colons. */
function words(line: string): string[] {
  return (line.replace(OF_PROVIDERS, '').match(/[A-Za-z0-9_=.:%-]+/g) ?? []).flatMap((word) => [
    word,
    ...word.split(/[.:%=]/),
  ]);
}

function lines(directory: string, file: string): string[] {
  return readFileSync(join(directory, file), 'utf8').split('\n').filter(Boolean);
}
