import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/service-process';
import { generate } from './generate';
import { Page } from './page';
import { outputOf } from './program';
import { withService, expectPlayedToEnd } from './stage';
import { checkText } from './swift-text';

const SWIFT = process.env.SWIFT ?? 'swift';
const OLDEST_SWIFT = 6;

/** Code that the page's code needs only on Linux. */
const ON_LINUX = '#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n';

/** Generates the client of docs/swift.md, with the page's code: it is played against the service, or only read. */
export async function swift(folder: string): Promise<void> {
  const page = new Page('swift.md');
  const play = join(folder, 'play');
  const client = join(play, 'AccountsClient');
  if (swiftVersion() < OLDEST_SWIFT) {
    await generate(page, join(ROOT, 'docs/openapi.json'), client);
    checkText(client, page);
    process.stdout.write(`not compiled: no Swift ${OLDEST_SWIFT} here\n`);
    return;
  }
  await withService(folder, async ({ url, messages, image }) => {
    cpSync(join(__dirname, 'swift'), play, { recursive: true });
    await generate(page, `${url}/openapi.json`, client);
    writeFileSync(join(play, 'Sources/Play/Page.swift'), ON_LINUX + page.code('swift'));
    // Cookies are stored below the home folder, and the compiler writes more to both.
    const env = { HOME: folder, TMPDIR: folder };
    // An app adds the generated package, with a description of its own.
    await outputOf(SWIFT, ['package', '--package-path', client, 'describe'], env);
    for (const part of ['begins', 'goesOn']) {
      const words = ['run', '--package-path', play, 'Play', part, url, folder, messages, image];
      expectPlayedToEnd(await outputOf(SWIFT, words, env));
    }
  });
}

/** Returns 0 without Swift. OpenStack has a command of this name too. */
function swiftVersion(): number {
  const { stdout } = spawnSync(SWIFT, ['--version'], { encoding: 'utf8' });
  return Number(/Swift version (\d+)/.exec(String(stdout))?.[1] ?? 0);
}
