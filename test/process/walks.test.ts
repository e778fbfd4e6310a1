import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOfKind } from '../support/code-blocks';
import { newDataDir, ROOT, ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

describe('the commands', () => {
  const dataDir = newDataDir();
  let service: ServiceProcess;
  let shell: ChildProcessWithoutNullStreams | undefined;

  beforeAll(async () => {
    service = await ServiceProcess.start({ DATA_DIR: dataDir.path }).untilReady();
  });
  afterAll(async () => {
    shell?.kill();
    await service.stop();
    dataDir.remove();
  });

  /** Runs all blocks of a page in one bash, and returns its output. */
  async function walk(page: string): Promise<{ status: unknown; shown: string; codes: number[] }> {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const commands = codeOfKind(text, 'bash').join('');
    const env = { ...process.env, BASE: service.url, DATA_DIR: dataDir.path };
    const bash = (shell = spawn('bash', ['-e'], { cwd: ROOT, env }));
    let shown = '';
    bash.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    bash.stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const ended = new Promise((resolve) => bash.on('close', resolve));
    // Types what the first terminal shows, as the reader does. bash reads it from its standard input, like the
    // commands.
    let known = service.codes.length;
    for (const line of commands.split('\n')) {
      bash.stdin.write(`${line}\n`);
      if (!line.startsWith('read ')) continue;
      await until(() => {
        if (bash.exitCode !== null) throw new Error(shown);
        return service.codes.length > known;
      });
      bash.stdin.write(`${service.codes[known]}\n`);
      known += 1;
    }
    bash.stdin.end();
    const status = await ended;
    return { status, shown, codes: [...shown.matchAll(/^\{"code":(\d+)/gm)].map(([, code]) => Number(code)) };
  }

  it("in README's first five minutes work as written", async () => {
    const { status, shown, codes } = await walk('README.md');
    expect({ status, shown, codes: new Set(codes) }).toMatchObject({ status: 0, codes: new Set([200]) });
    expect(shown).toMatch(/"result":\{"version":\d+,"user":\{"id":"[^"]+","nickname":"Ann"/);
  });

  it('in docs/tour.md work as written', async () => {
    const { status, shown, codes } = await walk('docs/tour.md');
    expect({ status, shown }).toMatchObject({ status: 0 });
    expect(codes.filter((code) => code !== 200)).toEqual([401]);
    expect(shown).toContain('"nickname":"Ann Onymous"');
    expect(shown).toMatch(/"result":\[\{"id":"[^"]+","name":"Hikers".*"memberCount":2/);
    expect(shown).toContain('"name":"Cooks"');
    expect(shown).toContain('200 image/png');
  });
});
