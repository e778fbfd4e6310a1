import { once } from 'node:events';
import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { createLogger } from '../../src/base/logger';
import { Deadline } from '../../src/http/deadline';
import { errorHandler, failWith } from '../../src/http/error-handler';
import { streamJson } from '../../src/http/json-stream';
import { ok } from '../../src/http/route';
import { Gate } from '../support/gate';

const DEADLINE_MS = 400;

let deadline: Deadline;
let server: Server;
const late: unknown[] = [];
/** Log of the failures. */
const lines: string[] = [];

async function serve(routes: (app: Express) => void, othersMs?: number): Promise<string> {
  lines.length = 0;
  const fail = failWith(createLogger('trace', { write: (line: string) => lines.push(line) }));
  const onError = errorHandler(fail);
  deadline = new Deadline(fail, DEADLINE_MS);
  const app = express();
  app.use(deadline.watch(othersMs));
  routes(app);
  app.use(onError);
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

afterEach(() => {
  deadline.close();
  server.closeAllConnections();
  server.close();
});

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the deadline of a request', () => {
  // guard deadline-1: a request has one deadline for its whole duration
  // src/http/deadline.ts
  // - now - since > mostMs
  // + now - since > 1e9
  it('answers 503 with Retry-After, once, even if the work ends later', async () => {
    const url = await serve((app) =>
      app.post('/', async (_req, res) => {
        await sleep(3 * DEADLINE_MS);
        try {
          ok(res, 'too late');
          await streamJson(_req, res, {});
        } catch (error) {
          late.push(error);
        }
      }),
    );
    const answer = await fetch(url, { method: 'POST' });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ code: 503, message: expect.stringContaining('may not') as string });
    await sleep(3 * DEADLINE_MS);
    expect(late).toEqual([]);
  });

  // guard deadline-3: an answer is written once, whatever its handler does after the deadline
  // src/http/deadline.ts
  // - seal(res);
  it('leaves its answer as it is when the handler writes one later, and logs no failure', async () => {
    const ended = new Gate();
    const url = await serve((app) =>
      app.post('/', async (req, res) => {
        await once(res, 'close');
        try {
          res.set('X-Channel', 'sms').append('Vary', 'Origin').cookie('device', 'x').removeHeader('X-Reason');
          ok(res, 'too late');
          await streamJson(req, res, {
            rows: (async function* () {
              await Promise.resolve();
              yield ['x'.repeat(1e5)];
            })(),
          });
          res.writeHead(200);
          res.write('x');
          res.json({}).end('x');
        } finally {
          ended.open();
        }
      }),
    );
    const answer = await fetch(url, { method: 'POST' });
    expect(await answer.json()).toMatchObject({ code: 503, reason: 'took_too_long' });
    await ended.wait();
    // Express's handler of errors would come next.
    expect((await fetch(url)).status).toBe(404);
    expect(lines).toEqual([]);
  });

  it('comes later by the time that others need', async () => {
    const url = await serve(
      (app) => app.post('/', (_req, res) => void sleep(2 * DEADLINE_MS).then(() => ok(res))),
      60_000,
    );
    expect((await fetch(url, { method: 'POST' })).status).toBe(200);
  });

  // guard deadline-2: a request that waits for a change is not late
  // src/http/deadline.ts
  // - if (request) this.remove(request);
  it('does not count the time for which a request rests', async () => {
    const url = await serve((app) =>
      app.post('/', async (req, res) => {
        req.begun = performance.now();
        const goOn = deadline.rest(req);
        await sleep(3 * DEADLINE_MS);
        goOn();
        ok(res, Math.round(performance.now() - req.begun));
      }),
    );
    const answer = await fetch(url, { method: 'POST' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ code: 200, result: expect.any(Number) as number });
  });

  it('does not touch an answer that has begun', async () => {
    const url = await serve((app) =>
      app.post('/', async (_req, res) => {
        res.write('[');
        await sleep(3 * DEADLINE_MS);
        res.end(']');
      }),
    );
    expect(await (await fetch(url, { method: 'POST' })).json()).toEqual([]);
  });

  it('starts counting at the last byte of a slow client', async () => {
    const url = await serve((app) => app.post('/', express.text(), (_req, res) => ok(res)));
    const slow = request(url, { method: 'POST', headers: { 'Content-Type': 'text/plain', 'Content-Length': '2' } });
    slow.write('a');
    await sleep(3 * DEADLINE_MS);
    slow.end('b');
    const [answer] = (await once(slow, 'response')) as [{ statusCode: number; resume(): void }];
    answer.resume();
    expect(answer.statusCode).toBe(200);
  });
});
