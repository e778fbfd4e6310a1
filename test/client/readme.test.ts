import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { newDataDir, ROOT, ServiceProcess } from '../support/service-process';
import { secret } from '../support/secrets';
import { until } from '../support/until';

const CLIENT = join(ROOT, 'packages', 'client');
const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
const [, fiveMinutes = ''] = /^## Five minutes$(.*?)^## /ms.exec(readme) ?? [];
const walk = [...fiveMinutes.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block).join('');

describe("the client's five minutes", () => {
  const dataDir = newDataDir();
  const folder = mkdtempSync(join(tmpdir(), 'accounts-readme-'));
  let service: ServiceProcess;
  let child: ChildProcessWithoutNullStreams | undefined;

  beforeAll(async () => {
    service = await ServiceProcess.start({ DATA_DIR: dataDir.path }).ready();
  });
  afterAll(async () => {
    child?.kill();
    await service.stop();
    dataDir.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('work as written', async () => {
    const program = join(folder, 'walk.mts');
    const source = pathToFileURL(join(CLIENT, 'src', 'index.ts')).href;
    writeFileSync(program, walk.replace("'@user-account-service/client'", `'${source}'`));
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, BASE: service.url };
    const walking = spawn(process.execPath, ['--import', 'tsx', program], { cwd: ROOT, env });
    child = walking;
    let shown = '';
    walking.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    walking.stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const ended = new Promise((resolve) => walking.on('close', resolve));
    // The reader types what the first terminal shows.
    const codes = () => [...service.stdout.matchAll(/^SMS to \S+: (\d{6}) /gm)].map(([, code]) => secret(code ?? ''));
    for (const typed of [1, 2]) {
      await until(() => {
        if (walking.exitCode !== null) throw new Error(shown);
        // A line that comes before its question is lost.
        return codes().length >= typed && shown.split('first terminal: ').length > typed;
      }, 30_000);
      walking.stdin.write(`${codes()[typed - 1]}\n`);
    }

    expect({ status: await ended, shown }).toMatchObject({ status: 0 });
    expect(shown).toContain('friend: Bob, 11\n');
    expect(shown).toContain('friend: Bob, 20\n');
  }, 60_000);
});
