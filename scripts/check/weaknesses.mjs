// npm run weaknesses: asks npm's registry for known weaknesses of the packages in the lock files. It fails for a high or
// critical one that has a mend. It says so in one line, and does not fail, when the registry cannot be asked.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Folders whose packages run in the service, in its tests, or build the client. */
const FOLDERS = ['.', 'packages/client'];
const REFUSED = ['high', 'critical'];
const ARGS = ['audit', '--json', '--audit', '--package-lock-only', '--fetch-retries=0', '--loglevel=error'];

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '120' } },
  allowPositionals: true,
});
const folders = positionals.length > 0 ? positionals : FOLDERS.map((folder) => join(root, folder));
const asked = folders.map(weaknessesOf);
const unasked = asked.find(({ why }) => why !== undefined);
const found = new Set(asked.flatMap(({ weaknesses = [] }) => weaknesses));

if (found.size > 0) {
  process.stderr.write(`${[...found].join('\n')}\n`);
  process.exitCode = 1;
} else if (unasked) {
  process.stdout.write(`Known weaknesses were not looked for: ${unasked.why}\n`);
} else {
  process.stdout.write('No package has a known high weakness with a mend.\n');
}

function weaknessesOf(cwd) {
  const { stdout, stderr, error } = spawnSync('npm', [...ARGS], {
    cwd,
    encoding: 'utf8',
    timeout: 1_000 * Number(values.seconds),
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1_024 * 1_024,
    shell: process.platform === 'win32',
  });
  if (error?.code === 'ETIMEDOUT') return { why: `npm's registry did not answer within ${values.seconds} s` };
  const report = reportIn(stdout);
  if (report.vulnerabilities) return { weaknesses: Object.values(report.vulnerabilities).flatMap(linesOf) };
  const message = String(report.message ?? report.error?.summary ?? '').split('\n')[0];
  if (report.statusCode || /^request to /.test(message)) return { why: message };
  throw new Error(`npm audit failed in ${cwd}: ${message}\n${stderr}`, { cause: error });
}

function reportIn(stdout) {
  try {
    return JSON.parse(stdout) ?? {};
  } catch {
    return {};
  }
}

/** Returns a line per advisory. A package that only depends on a weak one has names there, and no advisory. */
function linesOf({ name, via, fixAvailable }) {
  if (!fixAvailable) return [];
  const mend = fixAvailable === true ? 'npm update' : `${fixAvailable.name} ${fixAvailable.version}`;
  return via
    .filter(({ severity }) => REFUSED.includes(severity))
    .map(({ severity, range, title, url }) => `${name} ${range}: ${severity}: ${title} (${url}); mend: ${mend}`);
}
