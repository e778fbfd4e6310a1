import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../packages/embedded-database/src';
import { OUTPUT, OUTPUTS } from '../support/paths';
import { postmasterPid, ROOT } from '../support/service-process';
import { until } from '../support/until';

describe('npm test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-interrupted-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['SIGINT', 'SIGKILL'] as const)('leaves neither its PostgreSQL nor files of it after %s', async (signal) => {
    const { TEST_RUN: _ofThisRun, JEST_WORKER_ID: _ofThisWorker, ...env } = process.env;
    const run = spawn('npm', ['test', '--', 'test/unit/breaker'], {
      cwd: ROOT,
      detached: true,
      stdio: 'ignore' as const,
      env: { ...env, TMPDIR: folder },
    });
    const ended = new Promise((resolve) => run.on('close', resolve));
    const dataDirs = () => readdirSync(folder).filter((name) => name.startsWith('accounts-test-'));
    let pid = 0;
    await until(() => {
      pid = Math.max(0, ...dataDirs().map((name) => postmasterPid(join(folder, name))));
      return pid > 0;
    }, 300_000);
    process.kill(-(run.pid ?? 0), signal);
    await ended;
    await until(() => !isAlive(pid) && dataDirs().length === 0, 240_000);
  });

  it('leaves the logs of another run in this clone', () => {
    expect(existsSync(OUTPUT)).toBe(true);
    expect(readdirSync(OUTPUTS)).toContain(process.env.TEST_RUN);
  });
});
