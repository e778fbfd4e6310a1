import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { root } from '../scripts/dependencies.mjs';
import { signatureOf } from './cookies.mjs';
import { addressOf, person, spread } from './people.mjs';
import { startServer } from './processes.mjs';

const require = createRequire(import.meta.url);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** The compiled service. `flags` are Node's own; `env` comes on top of what production requires. */
export function startService(bench, { database = 'bench', env = {}, flags = [] } = {}) {
  return startServer({
    name: 'service',
    args: [...flags, join(root, 'dist/src/server.js')],
    folder: bench.folder,
    env: { ...productionEnv(bench), DATABASE_URL: bench.postgres.url(database), ...env },
  });
}

/** With what lets us look into the process from outside. */
export function startObservedService(bench, options = {}) {
  const file = join(bench.folder, 'observed.json');
  return startService(bench, {
    ...options,
    env: { ...options.env, OBSERVE_FILE: file },
    flags: ['--expose-gc', '--import', here('observe.mjs')],
  }).then((server) => ({ ...server, file }));
}

/** One of our own small servers, on a database of the run. */
export function startOwn(bench, name, { database = 'bench', args = [], env = {} } = {}) {
  return startServer({
    name,
    args: [here(`servers/${name}.mjs`), ...args],
    folder: bench.folder,
    env: { DATABASE_URL: bench.postgres.url(database), SESSION_SECRET: bench.secret, ...env },
  });
}

/** POST /user/:id: the session of one user asks for another one. */
export function readRequest(bench, index, signature = {}) {
  return post(bench, index, `/user/${person(asked(bench, index)).id}`, signature);
}

/** The same of many users, so that no answer is another one's again soon. */
export function readRequests(bench) {
  return spread(bench.options.users, 5_000).map((index) => readRequest(bench, index));
}

export function asked(bench, index) {
  return (index + 1) % bench.options.users;
}

/**
 * A POST with a user's session, from an address of the user's own, over HTTPS as far as the proxy in front tells. It is a
 * forged one when it bears the signature that was made for somebody else's session.
 */
export function post(bench, index, path, { cookieName = '__Host-sid', madeFor = index } = {}) {
  const signature = signatureOf(person(madeFor).sid, bench.secret);
  const cookie = encodeURIComponent(`s:${person(index).sid}.${signature}`);
  return { method: 'POST', path, headers: { ...proxied(index), Cookie: `${cookieName}=${cookie}` } };
}

export function proxied(index) {
  return { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': addressOf(index) };
}

function productionEnv(bench) {
  const { generateSigningKey } = require(join(root, 'dist/src/integrations/messaging/signing-key'));
  return {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    DATA_DIR: join(bench.folder, 'service-data'),
    SESSION_SECRETS: bench.secret,
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000000',
    TWILIO_AUTH_TOKEN: 'not used',
    TWILIO_FROM: '+447400000000',
    MESSAGING_JWT_KEY: generateSigningKey(),
    STORAGE_PROVIDER: 'local',
    PUBLIC_URL: 'https://accounts.example.com',
    TRUST_PROXY: '1',
  };
}
