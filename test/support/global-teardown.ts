import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { secretsInLogs } from './secrets';

/** Stops the database, and fails the run if a log contains a secret. */
export default async function tearDown(): Promise<void> {
  const { testRun } = globalThis;
  if (testRun) {
    await testRun.postgres.stop();
    rmSync(testRun.folder, { recursive: true, force: true });
    process.env.TMPDIR = dirname(testRun.folder);
  }
  const { searched, found } = secretsInLogs();
  if (found.length > 0) throw new Error(`secrets in the log: ${found.slice(0, 5).join('; ')}`);
  process.stdout.write(
    `No log of this run holds one of the ${searched} codes, tokens, passwords and phones that it used.\n`,
  );
}
