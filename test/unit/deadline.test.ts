import { once } from 'node:events';
import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { silent } from '../support/silent';
import { Deadline } from '../../src/http/deadline';
import { errorHandler, failWith } from '../../src/http/error-handler';
import { streamJson } from '../../src/http/json-stream';
import { ok } from '../../src/http/route';

const DEADLINE_MS = 400;

let deadline: Deadline;
let server: Server;
const late: unknown[] = [];

async function serve(routes: (app: Express) => void): Promise<string> {
  const fail = failWith(silent);
  const onError = errorHandler(fail);
  deadline = new Deadline(fail, DEADLINE_MS);
  const app = express();
  app.use(deadline.watch);
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
  // - now - since > this.deadlineMs
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
