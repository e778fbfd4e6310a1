import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDataDir, ROOT, ServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { secret } from '../support/secrets';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const walk = [...readme.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block]) => block).join('');

describe("README's first five minutes", () => {
  const dataDir = newDataDir();
  let service: ServiceProcess;
  let shell: ChildProcessWithoutNullStreams;

  beforeAll(async () => {
    service = await ServiceProcess.start({ DATA_DIR: dataDir.path }).ready();
    shell = spawn('bash', ['-e'], { cwd: ROOT, env: { ...process.env, BASE: service.url, DATA_DIR: dataDir.path } });
  });
  afterAll(async () => {
    shell.kill();
    await service.stop();
    dataDir.remove();
  });

  it('work as written', async () => {
    let shown = '';
    shell.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    shell.stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const ended = new Promise((resolve) => shell.on('close', resolve));
    // The reader types what the first terminal shows; bash reads it from where it reads the commands.
    const codes = () => [...service.stdout.matchAll(/^SMS to \S+: (\d{6}) /gm)].map(([, code]) => secret(code ?? ''));
    let typed = 0;
    for (const line of walk.split('\n')) {
      shell.stdin.write(`${line}\n`);
      if (!line.startsWith('read ')) continue;
      typed += 1;
      await until(() => {
        if (shell.exitCode !== null) throw new Error(shown);
        return codes().length >= typed;
      }, 30_000);
      shell.stdin.write(`${codes()[typed - 1]}\n`);
    }
    shell.stdin.end();

    expect({ status: await ended, shown }).toMatchObject({ status: 0 });
    const answers = shown.split('\n').filter((line) => line.startsWith('{"code"'));
    expect(answers.filter((line) => !line.startsWith('{"code":200')).map((line) => line.slice(0, 11))).toEqual([
      '{"code":401',
    ]);
    expect(shown).toContain('"nickname":"Ann Onymous"');
    expect(shown).toMatch(/"result":\[\{"id":"[^"]+","name":"Hikers".*"memberCount":2/);
    expect(shown).toContain('"name":"Cooks"');
    expect(shown).toContain('200 image/png');
  }, 60_000);
});
