import { chmod, chown, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Binaries } from './binaries';
import { EmbeddedPostgresError, orWhen } from './error';
import { run, type Outcome } from './processes';

export interface Account {
  uid: number;
  gid: number;
}

/** A way to run PostgreSQL's programs, and the account that must own the files they write (undefined: our own). */
export interface RunAs {
  readonly owner: Account | undefined;
  run(file: string, args: string[]): Promise<Outcome>;
}

/** The places PostgreSQL must reach: its programs, the data directory, and the cluster inside it once there is one. */
export interface Places {
  binaries: Binaries;
  dataDir: string;
  cluster: string;
}

export interface Chosen {
  runAs: RunAs;
  /** PostgreSQL's major version. */
  version: string;
}

const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/** PostgreSQL refuses to run as root, so root runs it as somebody else, without changing the machine's users. */
export async function chooseRunAs(places: Places): Promise<Chosen> {
  return process.getuid?.() === 0 ? chooseForRoot(places) : chooseForUser(places);
}

async function chooseForUser(places: Places): Promise<Chosen> {
  const owner = await orWhen('ENOENT', undefined, stat(places.cluster));
  if (owner && process.getuid && owner.uid !== process.getuid()) {
    throw new EmbeddedPostgresError(
      `${places.cluster} belongs to another user (uid ${owner.uid}): start as that user or as root, or set DATA_DIR to another folder`,
    );
  }
  // A container may run us under an id that has no name, which initdb does not accept: the namespace gives it one.
  const { chosen, problem } = await firstThatWorks([ourselves, inUserNamespace(NOBODY, undefined)], places);
  if (chosen) return chosen;
  throw doesNotRun(problem);
}

async function chooseForRoot(places: Places): Promise<Chosen> {
  const account = await accountForRoot(places.cluster);
  const blocked = [
    ...(await impassable(dirname(places.dataDir), account)),
    ...(await impassable(dirname(places.binaries.postgres), account)),
  ];
  if (blocked.length === 0) await letPass(places.dataDir, account);
  // From the least power to the most; the last ones for containers, which lack the capability or the namespace.
  const { chosen, problem } = await firstThatWorks(
    [
      plainly(account),
      withCapability('dac_read_search', account),
      inUserNamespace(account, { uid: 0, gid: 0 }),
      withCapability('dac_override', account),
    ],
    places,
  );
  if (chosen) return chosen;
  if (!blocked[0]) throw doesNotRun(problem);
  throw new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root, and user ${account.uid}, which it would run as, cannot pass ${blocked[0]}: start as another user, move the project or set DATA_DIR to where everybody may pass, or set DATABASE_URL`,
  );
}

function doesNotRun(problem: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL does not run here (${problem}): reinstall with npm ci --include=optional, start as another user, or set DATABASE_URL`,
  );
}

const ourselves: RunAs = { owner: undefined, run: (file, args) => run(file, args) };

const plainly = (owner: Account): RunAs => ({ owner, run: (file, args) => run(file, args, owner) });

/**
 * An unprivileged user who may still pass, and read in, every folder. The securebit is needed because access(2), which
 * PostgreSQL asks before it runs its own programs, otherwise disregards the capabilities of whoever is not root.
 */
const withCapability = (capability: string, owner: Account): RunAs => ({
  owner,
  run: (file, args) =>
    run('setpriv', [
      ...[`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--securebits=+no_setuid_fixup'],
      ...[`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`, file, ...args],
    ]),
});

/** Ourselves by ownership of files, yet another user, without any capability, in PostgreSQL's own eyes. */
const inUserNamespace = (seenAs: Account, owner: Account | undefined): RunAs => ({
  owner,
  run: (file, args) => run('unshare', ['--user', `--map-user=${seenAs.uid}`, file, ...args]),
});

async function firstThatWorks(ways: RunAs[], { binaries, dataDir, cluster }: Places) {
  let problem = '';
  for (const runAs of ways) {
    // What initdb (which alone wants a name) and the server will do: have a name, enter, read, run.
    const script = '{ test -e "$4" || id -un >/dev/null; } && cd -- "$1" && test -r "$2" && exec "$3" --version';
    const paths = [dataDir, binaries.catalog, binaries.postgres, join(cluster, 'PG_VERSION')];
    const { ok, stdout, stderr } = await runAs.run('sh', ['-c', script, 'sh', ...paths]);
    const version = /^postgres \(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
    if (ok && version && !stderr.includes('invalid binary')) return { chosen: { runAs, version }, problem };
    // The first way's trouble is the one to tell: the later ones fail for want of means that few machines offer.
    problem ||= stderr.trim().split('\n').pop() || `no PostgreSQL answers from ${binaries.postgres}`;
  }
  return { chosen: undefined, problem };
}

/** The owner of the data that is there, so that a user who once starts as root is not locked out; else `nobody`. */
async function accountForRoot(cluster: string): Promise<Account> {
  const found = await orWhen('ENOENT', undefined, stat(cluster));
  if (found && found.uid !== 0) return { uid: found.uid, gid: found.gid };
  const users = await orWhen('ENOENT', '', readFile('/etc/passwd', 'utf8'));
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : NOBODY;
}

/** The folders on the way that keep the account out, outermost first. */
async function impassable(path: string, account: Account): Promise<string[]> {
  const above = path === dirname(path) ? [] : await impassable(dirname(path), account);
  const { uid, gid, mode } = await stat(path);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  return mode & bit ? above : [...above, path];
}

/**
 * A data directory closed to all but root opens for PostgreSQL's group, to pass through and not to list, which spares
 * it a capability.
 */
async function letPass(dataDir: string, account: Account): Promise<void> {
  const { uid, mode } = await stat(dataDir);
  if (uid !== 0 || (mode & 0o077) !== 0) return;
  await chown(dataDir, 0, account.gid);
  await chmod(dataDir, 0o710);
}
