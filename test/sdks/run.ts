import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { javaVersion } from './java';
import { kotlin } from './kotlin';
import { swift } from './swift';

/**
 * npm run sdk-test: the clients of docs/kotlin.md and docs/swift.md, generated from the document as it is, compiled and
 * played with the service. What that needs from Maven Central, some 100 MB, is kept in .cache.
 *   npm run sdk-test -- swift                       that one alone
 *   SWIFT=/opt/swift/bin/swift npm run sdk-test     with a Swift that is not on the path; without any it is only read
 */
const OLDEST_JAVA = 17;
const CLIENTS = { kotlin, swift };
const only = process.argv.slice(2);

async function main(): Promise<void> {
  if (javaVersion() < OLDEST_JAVA) {
    process.stdout.write(`not tried: there is no Java ${OLDEST_JAVA} here, which generates the clients\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'accounts-sdks-'));
  try {
    for (const [name, client] of Object.entries(CLIENTS)) {
      if (only.length > 0 && !only.includes(name)) continue;
      const begun = performance.now();
      await client(folder);
      process.stdout.write(`held  ${name} (${((performance.now() - begun) / 1_000).toFixed(0)} s)\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
