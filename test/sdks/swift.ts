import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';
import { generate } from './generate';
import { Page } from './page';
import { said } from './program';
import { onStage, toItsEnd } from './stage';
import { read } from './swift-text';

const SWIFT = process.env.SWIFT ?? 'swift';
const OLDEST_SWIFT = 6;

/** What the page's code needs on Linux alone. */
const ON_LINUX = '#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n';

/** The client that docs/swift.md makes, with the page's code: it plays against the service, or is only read. */
export async function swift(folder: string): Promise<void> {
  const page = new Page('swift.md');
  const play = join(folder, 'play');
  const client = join(play, 'AccountsClient');
  if (swiftVersion() < OLDEST_SWIFT) {
    await generate(page, join(ROOT, 'docs/openapi.json'), client);
    read(client, page);
    process.stdout.write(`not compiled: no Swift ${OLDEST_SWIFT} here\n`);
    return;
  }
  await onStage(folder, async ({ url, messages, image }) => {
    cpSync(join(__dirname, 'swift'), play, { recursive: true });
    await generate(page, `${url}/openapi.json`, client);
    writeFileSync(join(play, 'Sources/Play/Page.swift'), ON_LINUX + page.code('swift'));
    // Cookies are kept below the home folder, and the compiler leaves more in both.
    const env = { HOME: folder, TMPDIR: folder };
    // What an app adds is the generated package, with a description of its own.
    await said(SWIFT, ['package', '--package-path', client, 'describe'], env);
    for (const part of ['begins', 'goesOn']) {
      const words = ['run', '--package-path', play, 'Play', part, url, folder, messages, image];
      toItsEnd(await said(SWIFT, words, env));
    }
  });
}

/** 0 without one; OpenStack has a command of this name too. */
function swiftVersion(): number {
  const { stdout } = spawnSync(SWIFT, ['--version'], { encoding: 'utf8' });
  return Number(/Swift version (\d+)/.exec(String(stdout))?.[1] ?? 0);
}
