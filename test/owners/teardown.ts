import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statements } from '../support/all-statements';
import tearDownRun from '../support/global-teardown';
import { TWO_OWNERS } from './two-owners';

const NOTE = /LOG: {2}two owners: (".*")$/gm;

/** A statement that is asked together with a session. */
const WITH_SESSION =
  /^SELECT signed_in\..* LEFT JOIN LATERAL \(SELECT true AS "_found", asked\.\* FROM \((.*)\) asked\) answer/;

interface Run {
  testPathPatterns: { patterns: string[] };
}

/** Compares the statements that the run has noted with the list. A run of some files does not need all of it. */
export default async function tearDown({ testPathPatterns }: Run): Promise<void> {
  const log = readFileSync(join(globalThis.testRun?.dataDir ?? '', 'postgres.log'), 'utf8');
  await tearDownRun();
  const texts = new Set([...log.matchAll(NOTE)].map(([, text = '']) => text));
  const noted = new Set([...texts].map((text) => nameOf(formOf(JSON.parse(text) as string))));
  const listed = new Set(Object.values(TWO_OWNERS).flat());
  process.stdout.write(`${noted.size} statements touched rows of two owners.\n`);
  const isAll = testPathPatterns.patterns.length === 0;
  const wrong = [
    ...[...noted].filter((name) => !listed.has(name)).map((name) => `two owners, but not listed: ${name}`),
    ...[...listed].filter((name) => isAll && !noted.has(name)).map((name) => `listed, but only one owner: ${name}`),
  ];
  if (wrong.length > 0)
    throw new Error(`change the statement, or the list in test/owners/two-owners.ts:\n${wrong.join('\n')}`);
}

/** The names of statements by their form. */
const names = new Map([...statements].map(([name, text]) => [formOf(text), name]));

/** Returns the name of a statement, or its text if it has none, such as those that Knex makes. */
function nameOf(form: string): string {
  const asked = WITH_SESSION.exec(form)?.[1];
  return asked === undefined ? (names.get(form) ?? form) : `session and ${nameOf(asked)}`;
}

/** Knex numbers the values in another way, and may insert many rows. The owner of a session is one of its columns. */
function formOf(text: string): string {
  return text
    .replace(/\$\d+|signed_in\.user_id/g, '?')
    .replace(/(\(\?(?:, \?)*\))(?:, \1)+/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
