import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkList } from '../../src/base/networks';
import { NotTaken, WebhookCaller } from '../../src/integrations/webhook-call';

const LOOPBACK = networkList('127.0.0.0/8 ::1/128');
const message = { id: '1-1-ann', body: '{}', at: 1_790_000_000_123 };
const secrets = ['whsec_MDEyMzQ1Njc4OWFiY2RlZg=='];

describe('a call of a webhook', () => {
  let server: Server;
  let callers: WebhookCaller[] = [];
  afterEach(() => {
    for (const caller of callers) caller.close();
    callers = [];
    server?.close();
    server?.closeAllConnections();
  });

  const caller = (allowed = LOOPBACK, timeoutMs = 60_000) => {
    const made = new WebhookCaller(allowed, undefined, timeoutMs);
    callers.push(made);
    return made;
  };
  async function listen(listener: RequestListener): Promise<string> {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  // guard webhook-call-1: a webhook leads to no private address
  // src/integrations/webhook-call.ts
  // - (isSafe && !isPrivate(address))
  // + isSafe
  // guard webhook-call-2: an address that nothing looks up is checked as well
  // src/integrations/webhook-call.ts
  // - if (isIP(host) && !mayReach(this.allowed, host, isSafe)) return reject(notAllowed());
  // guard webhook-call-3: a webhook is told without TLS only in networks that operators have allowed
  // src/integrations/webhook-call.ts
  // - (isSafe && !isPrivate(address))
  // + !isPrivate(address)
  it.each([
    'http://127.0.0.1:1',
    'https://127.0.0.1:1',
    'https://127.1:1',
    'https://2130706433:1',
    'https://localhost:1',
    'https://10.1.2.3:1',
    'https://172.16.0.1:1',
    'https://192.168.0.1:1',
    'https://169.254.169.254:1',
    'https://100.64.0.1:1',
    'https://0.0.0.0:1',
    'https://[::1]:1',
    'https://[::ffff:127.0.0.1]:1',
    'https://[::127.0.0.1]:1',
    'https://192.88.99.1:1',
    'https://[::ffff:0:7f00:1]:1',
    'https://[64:ff9b::7f00:1]:1',
    'https://[2002:7f00:1::]:1',
    'https://[fd00::1]:1',
    'https://[fe80::1]:1',
    'http://8.8.8.8:1',
  ])('does not go to %s', async (url) => {
    const sending = caller(networkList('')).send({ url, secrets }, message);
    await expect(sending).rejects.toThrow('WEBHOOK_NETWORKS');
  });

  // guard webhook-call-4: addresses of a host are checked when they are looked up
  // src/integrations/webhook-call.ts
  // - else if (!found.every(({ address }) => mayReach(this.allowed, address, isSafe))) callback(notAllowed(), '');
  it('goes to a host only if each of its addresses may be reached', async () => {
    const url = (await listen((_, res) => res.end())).replace('127.0.0.1', 'localhost');
    await expect(caller(networkList('')).send({ url, secrets }, message)).rejects.toThrow('WEBHOOK_NETWORKS');
    await expect(caller().send({ url, secrets }, message)).resolves.toBeUndefined();
  });

  it('goes to networks that operators have allowed, and to no others', async () => {
    const url = await listen((_, res) => res.end());
    await expect(caller(networkList('10.0.0.0/8')).send({ url, secrets }, message)).rejects.toThrow(NotTaken);
    await expect(caller().send({ url, secrets }, message)).resolves.toBeUndefined();
  });

  it('does not follow a redirect', async () => {
    const paths: (string | undefined)[] = [];
    const url = await listen((req, res) => {
      paths.push(req.url);
      res.writeHead(307, { Location: '/private' }).end();
    });
    await expect(caller().send({ url, secrets }, message)).rejects.toThrow('redirects');
    expect(paths).toEqual(['/']);
  });

  // guard webhook-call-6: a webhook does not wait for an answer without end
  // src/integrations/webhook-call.ts
  // - signal: AbortSignal.timeout(this.timeoutMs),
  it('ends without an answer in time', async () => {
    const url = await listen(() => undefined);
    await expect(caller(LOOPBACK, 50).send({ url, secrets }, message)).rejects.toThrow('it did not answer in time');
  });

  // guard webhook-call-5: a long answer of a webhook is not read
  // src/integrations/webhook-call.ts
  // - if (length > MOST_OF_BODY) response.destroy();
  it('takes the status of an answer without an end, and closes its connection', async () => {
    let isClosed: Promise<unknown> = Promise.resolve();
    const url = await listen((_, res) => {
      isClosed = once(res, 'close');
      const more = () => {
        while (res.write(Buffer.alloc(65_536)));
      };
      res.on('drain', more);
      more();
    });
    await caller().send({ url, secrets }, message);
    await isClosed;
  });

  it('tells the cause of a failed connection without its address', async () => {
    const url = await listen((req) => req.socket.destroy());
    const sending = caller().send({ url, secrets }, message);
    await expect(sending).rejects.toThrow('it cannot be reached (ECONNRESET)');
  });
});
