#!/usr/bin/env node
// The command of the installed package: user-account-service [WORD …]. It has to run on old versions of Node, for what
// it says there.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, URL } from 'node:url';

/** Programs of the compiled service, with the words before those of the caller, and files that are printed. */
const WORDS = {
  start: { does: 'starts the service, as no word at all', file: 'src/server.js' },
  setup: { does: 'writes an .env for production, with new secrets', file: 'scripts/operate/setup.js' },
  doctor: { does: 'says what is wrong with an installation', file: 'scripts/operate/admin.js', before: ['doctor'] },
  admin: { does: 'acts for operators and support: admin --help', file: 'scripts/operate/admin.js' },
  migrate: { does: 'brings the schema of the database up to date', file: 'scripts/operate/migrate.js' },
  'migrate:rollback': { does: 'takes the newest migrations back', file: 'scripts/operate/migrate-rollback.js' },
  backup: { does: 'makes a backup', file: 'scripts/operate/backup.js', before: ['now'] },
  restore: { does: 'reads one back: restore NAME', file: 'scripts/operate/backup.js', before: ['restore'] },
  settings: { does: 'prints every setting, for an .env in this folder', prints: '.env.example' },
};

const { name, version, description, engines } = JSON.parse(read('package.json'));
const [word = 'start', ...words] = process.argv.slice(2);
const oldestNode = engines.node.replace('>=', '');

if (process.versions.node.localeCompare(oldestNode, 'en', { numeric: true }) < 0)
  end(1, `Node ${oldestNode} or newer is needed, and this is ${process.versions.node}: https://nodejs.org has one`);
else if (word === '--version' || word === '-v') end(0, version);
else if (word === '--help' || word === '-h') end(0, help());
else if (!Object.hasOwn(WORDS, word)) end(1, `${word} is not one of its words: ${name} --help lists them`);
else if (WORDS[word].prints) end(0, read(`dist/${WORDS[word].prints}`).trimEnd());
else run(WORDS[word]);

function run({ file, before = [] }) {
  const program = fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
  // The service says it where it names a command.
  process.env.ACCOUNTS_COMMAND = `npx ${name}`;
  process.argv = [process.execPath, program, ...before, ...words];
  process.setSourceMapsEnabled(true);
  createRequire(import.meta.url)(program);
}

function help() {
  const width = Math.max(...Object.keys(WORDS).map((one) => one.length));
  const line = ([one, { does }]) => `  ${one.padEnd(width)}  ${does}`;
  const lines = Object.entries(WORDS).map(line);
  return [`${name} ${version}: ${description}`, '', `  npx ${name} [WORD …]`, '', ...lines].join('\n');
}

/** Reads a file of the package. */
function read(path) {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

function end(status, text) {
  (status === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exitCode = status;
}
