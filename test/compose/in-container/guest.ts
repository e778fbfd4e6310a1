import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';

/**
 * A client in a network of the engine: signs in at the proxy's address, and prints its own address and the one the
 * service saw.
 */
const [proxy = '', body = ''] = process.argv.slice(2);
const ca = readFileSync('/ca.crt');

async function post(path: string, sent: string, cookie = ''): Promise<{ result: unknown; cookie: string }> {
  const headers = { Host: 'localhost', 'Content-Length': Buffer.byteLength(sent), ...(cookie && { Cookie: cookie }) };
  const options = { host: proxy, servername: 'localhost', path, method: 'POST', ca, headers };
  return new Promise((resolve, reject) => {
    const call = request(options, (answer) => {
      const [set = ''] = answer.headers['set-cookie'] ?? [];
      text(answer).then((got) => {
        const { result } = JSON.parse(got) as { result: unknown };
        resolve({ result, cookie: set.split(';')[0] ?? '' });
      }, reject);
    });
    call.on('error', reject);
    call.end(sent);
  });
}

async function main(): Promise<void> {
  const { cookie } = await post('/user/login', body);
  const { result } = await post('/user/sessions', '', cookie);
  const own = Object.values(networkInterfaces()).flatMap((of) => (of ?? []).map(({ address }) => address));
  process.stdout.write(JSON.stringify({ own, sessions: result }));
}

void main();
