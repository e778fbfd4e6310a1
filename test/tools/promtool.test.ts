import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) process.stderr.write('Alerts are NOT fired: no promtool is installed (Debian: prometheus).\n');

(hasPromtool ? describe : describe.skip)('promtool', () => {
  it.each([
    ['accepts the rules', ['check', 'rules', 'alerts.yml']],
    ['accepts the configuration', ['check', 'config', 'prometheus.yml']],
    [
      'fires each alert on series as its fault makes them, and none on quiet ones',
      ['test', 'rules', 'alerts.test.yml'],
    ],
  ])('%s', (_what, args) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd: join(ROOT, 'deploy/observe'),
      encoding: 'utf8',
    });
    expect({ status, told: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, told: '' });
  });
});
