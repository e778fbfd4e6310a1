#!/usr/bin/env node
// The command of the installed package: user-account-service [WORD …]. It has to run on old versions of Node, for what
// it says there.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, URL } from 'node:url';

const OLDEST_NODE = [22, 18];
/** Programs of the compiled service, and the words before those of the caller. */
const WORDS = {
  start: { does: 'starts the service, as no word at all', file: 'src/server.js' },
  setup: { does: 'writes an .env for production, with new secrets', file: 'scripts/operate/setup.js' },
  doctor: { does: 'says what is wrong with an installation', file: 'scripts/operate/admin.js', before: ['doctor'] },
  admin: { does: 'acts for operators and support: admin --help', file: 'scripts/operate/admin.js' },
  migrate: { does: 'brings the schema of the database up to date', file: 'scripts/operate/migrate.js' },
  'migrate:rollback': { does: 'takes the newest migrations back', file: 'scripts/operate/migrate-rollback.js' },
  backup: { does: 'makes a backup', file: 'scripts/operate/backup.js', before: ['now'] },
  restore: { does: 'reads one back: restore NAME', file: 'scripts/operate/backup.js', before: ['restore'] },
};

const { name, version, description } = JSON.parse(read('package.json'));
const [word = 'start', ...words] = process.argv.slice(2);

if (!isNewEnough())
  end(
    1,
    `Node ${OLDEST_NODE.join('.')} or newer is needed, and this is ${process.versions.node}: https://nodejs.org has one`,
  );
else if (word === '--version' || word === '-v') end(0, version);
else if (word === '--help' || word === '-h') end(0, help());
else if (word === 'settings') end(0, read('dist/.env.example').trimEnd());
else if (Object.hasOwn(WORDS, word)) run(WORDS[word]);
else end(1, `${word} is not one of its words: ${name} --help lists them`);

function run({ file, before = [] }) {
  const program = fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
  // The service says it where it names a command.
  process.env.ACCOUNTS_COMMAND = `npx ${name}`;
  process.argv = [process.execPath, program, ...before, ...words];
  process.setSourceMapsEnabled(true);
  createRequire(import.meta.url)(program);
}

function isNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function help() {
  const width = Math.max(...Object.keys(WORDS).map((one) => one.length));
  const line = ([one, { does }]) => `  ${one.padEnd(width)}  ${does}`;
  const lines = [
    ...Object.entries(WORDS),
    ['settings', { does: 'prints every setting, for an .env in this folder' }],
  ].map(line);
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
