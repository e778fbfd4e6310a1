import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { javaVersion } from './java';
import { kotlin } from './kotlin';
import { playLife, lives } from './lives';
import { swift } from './swift';

/**
 * npm run sdk-test: generates clients from the document of a service, compiles them and uses them. Files from Maven
 * Central, some 100 MB, are kept in .cache, like Rust's compiled files. Clients whose tools are not on the path are
 * skipped.
 *   npm run sdk-test -- swift                       only this client
 *   SWIFT=/opt/swift/bin/swift npm run sdk-test     with a Swift that is not on the path; without any, Swift is only read
 *   PYTHON=/opt/venv/bin/python npm run sdk-test    with a Python that has openapi-python-client, httpx, attrs, pydantic
 */
const OLDEST_JAVA = 17;
const withoutJava = () => (javaVersion() < OLDEST_JAVA ? `Java ${OLDEST_JAVA}` : undefined);

const clients = [
  { name: 'kotlin', missing: withoutJava, play: kotlin },
  { name: 'swift', missing: withoutJava, play: swift },
  ...Object.entries(lives).map(([name, { missing }]) => ({
    name,
    missing,
    play: (folder: string) => playLife(name, folder),
  })),
];
const only = process.argv.slice(2);

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-sdks-'));
  try {
    for (const { name, missing, play } of clients) {
      if (only.length > 0 && !only.includes(name)) continue;
      const tool = missing();
      if (tool !== undefined) {
        process.stdout.write(`not tried  ${name}: ${tool} is not here\n`);
        continue;
      }
      const begun = performance.now();
      await play(folder);
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
