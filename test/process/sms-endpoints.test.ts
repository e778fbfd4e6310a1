import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { startApp, type TestApp } from '../support/app';
import { codeOfKind } from '../support/code-blocks';
import { expectBody, post } from '../support/calls';
import { rememberSecret } from '../support/secrets';
import { ROOT } from '../support/service-process';
import { until } from '../support/until';

const page = readFileSync(join(ROOT, 'docs/codes.md'), 'utf8');
const SECRET = rememberSecret(`whsec_${Buffer.from('the secret of an endpoint of docs').toString('base64')}`);
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) process.stderr.write('The endpoint in Python is NOT run: there is no python3.\n');

const ENDPOINTS: [name: string, kind: string, program: string, file: string][] = [
  ['TypeScript', 'ts', process.execPath, 'endpoint.mts'],
  ['Python', 'python', 'python3', 'endpoint.py'],
];

describe.each(ENDPOINTS.filter(([name]) => hasPython || name !== 'Python'))(
  'the endpoint in %s of docs/codes.md',
  (_, kind, program, file) => {
    let app: TestApp | undefined;
    let folder: string;
    let endpoint: ChildProcess;
    let url: string;
    let printed = '';

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'endpoint-'));
      const [code = ''] = codeOfKind(page, kind);
      writeFileSync(join(folder, file), code);
      const env = { ...process.env, PORT: '0', SMS_HTTP_SECRET: SECRET };
      endpoint = spawn(program, [join(folder, file)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      printed = '';
      endpoint.stdout?.on('data', (part: Buffer) => (printed += part.toString()));
      await until(() => printed.endsWith('\n'));
      url = `http://127.0.0.1:${/\d{4,5}/.exec(printed)?.[0]}/`;
      printed = '';
    });
    afterEach(async () => {
      await app?.close();
      app = undefined;
      endpoint.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    });

    it('gets a code of the service, which is right', async () => {
      const [, routes = ''] = /^ +(\{ "routes": \{ "BD".*)$/m.exec(page) ?? [];
      const file = join(folder, 'routes.json');
      writeFileSync(file, routes);
      const sms = { SMS_ROUTES: file, SMS_HTTP_URL: url, SMS_HTTP_SECRET: SECRET };
      app = await startApp(sms, { realSms: true });
      const phone = { region: '880', phone: '1812345678' };
      rememberSecret('+8801812345678');
      expectBody(await post(app.api, '/user/send_code', phone), { code: 200 });
      await until(() => printed.endsWith('\n'));
      const [, code = ''] = /^\+8801812345678 (\d{6}) /.exec(printed) ?? [];
      expect((await post(app.api, '/user/verify_code', { ...phone, code: rememberSecret(code) })).body).toMatchObject({
        code: 200,
      });
    });

    it('takes each message once, and refuses what is not signed', async () => {
      const body = JSON.stringify({ id: '1', to: '+8801812345678', channel: 'sms', body: 'a text' });
      const send = async (id: string, at: Date, signed = body, signature?: string) => {
        const seconds = String(Math.floor(at.getTime() / 1_000));
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': seconds,
          'webhook-signature': signature ?? new Webhook(SECRET).sign(id, at, signed),
        };
        return (await fetch(url, { method: 'POST', headers, body: signed })).status;
      };
      const now = new Date();
      expect(await send('1', now, body, 'v1,bm9uZQ==')).toBe(401);
      expect(await send('1', new Date(now.getTime() - 600_000))).toBe(401);
      expect([await send('1', now), await send('1', now)]).toEqual([202, 202]);
      expect(await send('2', now, body.replace('+880', '+44'))).toBe(422);
      await until(() => printed.endsWith('\n'));
      expect(printed).toBe('+8801812345678 a text\n');
    });
  },
);
