import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { codeOfKind } from '../support/code-blocks';
import { command, rowsOf } from '../support/operator';
import { expectOk, insertAndSignIn } from '../support/people';
import { rememberSecret } from '../support/secrets';
import { ROOT } from '../support/service-process';
import { stage } from '../support/stage';
import { until } from '../support/until';

const LOOPBACK = { WEBHOOK_NETWORKS: '127.0.0.0/8' };
const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) process.stderr.write('The receiver in Python is NOT run: there is no python3.\n');

const RECEIVERS: [name: string, kind: string, program: string, file: string][] = [
  ['TypeScript', 'ts', process.execPath, 'receiver.mts'],
  ['Python', 'python', 'python3', 'receiver.py'],
];

describe.each(RECEIVERS.filter(([name]) => hasPython || name !== 'Python'))(
  'the receiver in %s of docs/webhooks.md',
  (_, kind, program, file) => {
    let folder: string;
    let receiver: ChildProcess | undefined;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'receiver-'));
    });
    afterEach(() => {
      receiver?.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    });
    const { app } = stage({ env: LOOPBACK, eachTest: true });

    it('does the work of each event once, and refuses what is not signed', async () => {
      const ann = await insertAndSignIn(app);
      // Its address is known once it listens, and it needs the secret before.
      const [row] = rowsOf(
        await command(app, 'webhooks add', ['http://127.0.0.1/', 'user.updated'], {}, LOOPBACK),
        'added',
      );
      const secret = rememberSecret(String(row?.secret));
      const [code = ''] = codeOfKind(page, kind);
      writeFileSync(join(folder, file), code);
      const env = { ...process.env, PORT: '0', WEBHOOK_SECRET: secret };
      receiver = spawn(program, [join(folder, file)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      let printed = '';
      receiver.stdout?.on('data', (part: Buffer) => (printed += part.toString()));
      await until(() => printed.endsWith('\n'));
      const url = `http://127.0.0.1:${/\d{4,5}/.exec(printed)?.[0]}/`;
      await app.db('webhooks').update({ url });
      printed = '';
      await expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' }));
      const line = `user.updated {"userId":"${ann.id}"}\n`;
      await until(() => printed.includes(line));

      const body = JSON.stringify({ type: 'user.updated', data: { userId: 'eve' } });
      const send = async (id: string, at: Date, signature = new Webhook(secret).sign(id, at, body)) => {
        const seconds = String(Math.floor(at.getTime() / 1_000));
        const headers = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature };
        return (await fetch(url, { method: 'POST', headers, body })).status;
      };
      const now = new Date();
      expect(await send('1', now, 'v1,bm9uZQ==')).toBe(401);
      expect(await send('1', new Date(now.getTime() - 600_000))).toBe(401);
      expect([await send('1', now), await send('1', now)]).toEqual([204, 204]);
      const forged = 'user.updated {"userId":"eve"}\n';
      await until(() => printed.includes(forged));
      expect(printed).toBe(line + forged);
    });
  },
);
