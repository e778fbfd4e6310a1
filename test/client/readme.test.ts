import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '../../packages/client/src/index.ts';
import { codeOfKind } from '../support/code-blocks';
import { newDataDir, ROOT, ServiceProcess } from '../support/service-process';
import { rememberSecret } from '../support/secrets';
import { until } from '../support/until';

const CLIENT = join(ROOT, 'packages', 'client');
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const programIn = (text: string) => codeOfKind(text, 'ts').join('');

describe('the client', () => {
  const dataDir = newDataDir();
  const folder = mkdtempSync(join(tmpdir(), 'accounts-readme-'));
  let service: ServiceProcess;
  let child: ChildProcessWithoutNullStreams | undefined;

  beforeAll(async () => {
    service = await ServiceProcess.start({ DATA_DIR: dataDir.path }).untilReady();
  });
  afterEach(() => {
    child?.kill();
  });
  afterAll(async () => {
    await service.stop();
    dataDir.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the program of a page, with the client's sources in place of the package. */
  function run(program: string) {
    const path = join(folder, 'walk.mts');
    const source = pathToFileURL(join(CLIENT, 'src', 'index.ts')).href;
    writeFileSync(path, program.replace("'@user-account-service/client'", `'${source}'`));
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, BASE: service.url };
    const running = (child = spawn(process.execPath, [path], { cwd: ROOT, env }));
    let shown = '';
    running.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    running.stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const ended = new Promise((resolve) => running.on('close', resolve));
    return { running, shown: () => shown, ended };
  }

  it('does what its five minutes show, as written', async () => {
    const [, fiveMinutes = ''] = /^## Five minutes$(.*?)^## /ms.exec(read('packages/client/README.md')) ?? [];
    const { running, shown, ended } = run(programIn(fiveMinutes));
    // Types what the first terminal shows, as the reader does.
    for (const typed of [1, 2]) {
      await until(() => {
        if (running.exitCode !== null) throw new Error(shown());
        // A line that arrives before its question is lost.
        return service.codes.length >= typed && shown().split('first terminal: ').length > typed;
      });
      running.stdin.write(`${service.codes[typed - 1]}\n`);
    }

    expect({ status: await ended, shown: shown() }).toMatchObject({ status: 0 });
    expect(shown()).toContain('friend: Bob, 11\n');
    expect(shown()).toContain('friend: Bob, 20\n');
  });

  it('signs up and in by a code, without a password, as written', async () => {
    const [, sessions = ''] = /^## Sessions$(.*?)^## /ms.exec(read('packages/client/README.md')) ?? [];
    const program = codeOfKind(sessions, 'ts').find((text) => text.includes('login_by_token')) ?? '';
    const known = service.codes.length;
    const { running, shown, ended } = run(program);
    for (const typed of [1, 2]) {
      await until(() => {
        if (running.exitCode !== null) throw new Error(shown());
        return service.codes.length >= known + typed && shown().split('first terminal: ').length > typed;
      });
      running.stdin.write(`${service.codes[known + typed - 1]}\n`);
    }
    expect({ status: await ended, shown: shown() }).toMatchObject({ status: 0 });
    const [, id] = /signed up: (\S+)/.exec(shown()) ?? [];
    expect(shown()).toContain(`signed in: ${id}\n`);
  });

  it.each(['signs up a user without an account', 'logs in the user that its commands have made'])(
    "does what the service's README shows, as written: it %s",
    async (which) => {
      const phone = which.startsWith('logs') ? '7911123458' : '7911123459';
      if (which.startsWith('logs')) await register({ region: 44, phone });
      const [base, ofAnn] = ["'http://127.0.0.1:8585'", "'7911123458'"];
      const program = programIn(read('README.md'));
      expect([program.split(base).length, program.split(ofAnn).length]).toEqual([2, 2]);

      const known = service.codes.length;
      const { running, shown, ended } = run(program.replace(base, `'${service.url}'`).replace(ofAnn, `'${phone}'`));
      if (which.startsWith('signs')) {
        await until(() => {
          if (running.exitCode !== null) throw new Error(shown());
          return service.codes.length > known && shown().includes('first terminal: ');
        });
        running.stdin.write(`${service.codes[known]}\n`);
      }
      expect({ status: await ended, shown: shown() }).toEqual({
        status: 0,
        shown: expect.stringMatching(/^(The code in the first terminal: )?\[\]\n$/) as string,
      });
    },
  );

  async function register(phone: { region: number; phone: string }): Promise<void> {
    const client = new Client({ baseUrl: service.url });
    const known = service.codes.length;
    await client.call('/user/send_code', phone);
    await until(() => service.codes.length > known);
    const verified = await client.call('/user/verify_code', { ...phone, code: service.codes[known] ?? '' });
    if (!verified.ok) throw new Error(verified.reason);
    const verification_token = rememberSecret(verified.result.verification_token);
    const registered = { nickname: 'Ann', password: 'opensesame', verification_token };
    expect(await client.call('/user/register', registered)).toMatchObject({ ok: true });
  }
});
