import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import request from 'supertest';
import { streamJson } from '../../src/http/json-stream';
import { until } from '../support/until';

describe('streamJson', () => {
  it.each([
    [
      'fields and lists in pages, in their order',
      { a: [1], b: pagesOf([2], [], [3, 4]), c: 'x' },
      { a: [1], b: [2, 3, 4], c: 'x' },
    ],
    ['lists without rows', { a: pagesOf(), b: pagesOf([]) }, { a: [], b: [] }],
    ['a list in pages', pagesOf([1], [2]), [1, 2]],
    ['a result without fields', {}, {}],
  ])('sends %s', async (_what, result, sent) => {
    const app = express().get('/', (req, res) => streamJson(req, res, result));
    expect((await request(app).get('/')).body).toEqual({ code: 200, result: sent });
  });

  // guard json-stream-1: a large answer that its client no longer reads frees its slot
  // src/http/json-stream.ts
  // - await pieces.return(undefined);
  it('stops the source of pages when the client is gone', async () => {
    let made = 0;
    let hasEnded = false;
    async function* pages() {
      try {
        for (made = 1; made <= 20; made += 1) {
          await sleep(20);
          yield ['x'];
        }
      } finally {
        hasEnded = true;
      }
    }
    const app = express().get('/', (req, res) => streamJson(req, res, pages()));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    while (made === 0) await sleep(5);
    client.destroy();
    await until(() => hasEnded);
    expect(made).toBeLessThan(20);
    server.close();
  });
});

async function* pagesOf(...pages: number[][]): AsyncGenerator<number[]> {
  yield* pages;
}
