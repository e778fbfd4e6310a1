// Runs npm for commands that install what they need. It uses nothing but Node.
import { spawn } from 'node:child_process';

/** Installs the packages of the folder's lock file, whose hashes npm checks. Returns npm's exit status. */
export function npmCi(folder, flags, output = 'inherit') {
  return new Promise((resolve) => {
    const child = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...flags], {
      cwd: folder,
      stdio: ['ignore', output, 'inherit'],
      shell: process.platform === 'win32',
    });
    // Ctrl-C reaches npm too: this process waits until npm has cleaned up, and then ends by the same signal.
    let interruption;
    const interrupt = (signal) => child.kill((interruption = signal));
    const settle = (status) => {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
      if (interruption) process.kill(process.pid, interruption);
      else resolve(status);
    };
    process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
    child.on('error', (error) => {
      process.stderr.write(`npm cannot be run: ${error.message}\n`);
      settle(1);
    });
    child.on('exit', (status) => settle(status ?? 1));
  });
}
