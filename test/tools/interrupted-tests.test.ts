import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OUTPUT, OUTPUTS } from '../support/paths';
import { ROOT } from '../support/service-process';
import { until } from '../support/until';

describe('npm test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'interrupted-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Returns commands of processes that were given the folder, by an argument or in their environment. */
  const commands = () =>
    readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .map((pid) => ({ command: fileOf(pid, 'cmdline'), environment: fileOf(pid, 'environ') }))
      .filter(({ command, environment }) => command.includes(folder) || environment.includes(folder))
      .map(({ command }) => command);

  // guard interrupted-tests-1: interrupted tests leave no process running
  // test/support/global-setup.ts
  // - startWatcher(folder);
  it.each([
    ['Ctrl-C', 'SIGINT', 'group'],
    ['a SIGTERM to npm', 'SIGTERM', 'npm'],
    ['a kill', 'SIGKILL', 'group'],
  ] as const)('leaves no process, PostgreSQL or folder behind after %s', async (_how, signal, to) => {
    const { TEST_RUN: _ofThisRun, JEST_WORKER_ID: _ofThisWorker, ...env } = process.env;
    const run = spawn('npm', ['test', '--', 'test/process/start'], {
      cwd: ROOT,
      detached: true,
      stdio: 'ignore' as const,
      env: { ...env, TMPDIR: folder },
    });
    const ended = new Promise((resolve) => run.on('close', resolve));
    await until(() => commands().some((command) => command.includes('src/server.ts')), 300_000);
    process.kill((run.pid ?? 0) * (to === 'group' ? -1 : 1), signal);
    await ended;
    await until(() => commands().length === 0 && !readdirSync(folder).some((name) => name.startsWith('accounts-')));
  });

  it('leaves the logs of another run in this clone', () => {
    expect(existsSync(OUTPUT)).toBe(true);
    expect(readdirSync(OUTPUTS)).toContain(process.env.TEST_RUN);
  });
});

/** Returns a file of a process, or an empty text for one that has ended. */
function fileOf(pid: string, name: string): string {
  try {
    return readFileSync(join('/proc', pid, name), 'utf8');
  } catch {
    return '';
  }
}
