import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import express, { type Express } from 'express';
import { createHttpServer } from '../../src/http/http-server';
import { until } from '../support/until';

describe("the service's HTTP server", () => {
  it("creates requests and answers with Express's prototypes, so that V8 knows their shape", async () => {
    const app = express().get('/', (req, res) => void res.send(`${req.ip} ${res.app === app}`));
    const server = createHttpServer(app);
    const prototypes: object[] = [];
    server.prependListener('request', (...both: [IncomingMessage, ServerResponse]) =>
      prototypes.push(...both.map((one) => Object.getPrototypeOf(one) as object)),
    );
    server.listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      expect(await answer.text()).toBe('127.0.0.1 true');
      expect(prototypes).toHaveLength(2);
      expect(prototypes[0]).toBe(app.request);
      expect(prototypes[1]).toBe(app.response);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  // guard http-server-6: an invalid HTTP request is refused with a reason
  // src/http/http-server.ts
  // - ['X-Reason', reason],
  it.each<[reason: string, status: number, cause: string]>([
    ['malformed_http', 400, 'HPE_INVALID_METHOD'],
    ['request_too_slow', 408, 'ERR_HTTP_REQUEST_TIMEOUT'],
    ['headers_too_large', 431, 'HPE_HEADER_OVERFLOW'],
  ])('refuses an incomplete request with its reason: %s', async (reason, status, cause) => {
    const server = createHttpServer(express()).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      let text = '';
      socket.on('data', (data: Buffer) => (text += data.toString()));
      const [accepted] = (await once(server, 'connection')) as [Socket];
      server.emit('clientError', Object.assign(new Error(cause), { code: cause }), accepted);
      await once(socket, 'close');
      const [head = '', body = ''] = text.split('\r\n\r\n');
      expect(head.split('\r\n')).toEqual(
        expect.arrayContaining([expect.stringMatching(`^HTTP/1.1 ${status} `), `X-Reason: ${reason}`]),
      );
      expect(JSON.parse(body)).toEqual({ code: status, reason, message: expect.any(String) as string });
    } finally {
      server.close();
    }
  });

  // guard http-server-7: a request without a host is refused by the service with a reason, not by Node
  // src/http/http-server.ts
  // - requireHostHeader: false
  // + requireHostHeader: true
  // guard http-server-8: expectations of a request other than 100-continue are ignored
  // src/http/http-server.ts
  // - server.emit('request', req, res)
  // + res.writeHead(417).end()
  it.each([
    ['without a host', 'POST / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'X-Reason: malformed_http'],
    ['as HTTP/1.0, which needs no host', 'POST / HTTP/1.0\r\n\r\n', 200, 'X-Powered-By: Express'],
    [
      'that expects something unknown',
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nConnection: close\r\n\r\n',
      200,
      'X-Powered-By: Express',
    ],
  ] as [string, string, number, string][])(
    'leaves no request to Node that Node would refuse itself: %s',
    async (_what, request, status, header) => {
      const server = createHttpServer(express().use((_req, res) => void res.json({}))).listen(0, '127.0.0.1');
      try {
        await once(server, 'listening');
        const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
        let text = '';
        socket.on('data', (data: Buffer) => (text += data.toString()));
        socket.write(request);
        await once(socket, 'close');
        expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
        expect(text).toContain(header);
      } finally {
        server.close();
      }
    },
  );

  // guard http-server-5: one connection has few pending requests
  // src/http/http-server.ts
  // - return waiting.size > MOST_PIPELINED;
  // + return false;
  it('answers a few pipelined requests in order, and closes a connection with many', async () => {
    const held: (() => unknown)[] = [];
    const app = express().get('/:number', (req, res) => void held.push(() => res.send(`<${req.params.number}>`)));
    const server = createHttpServer(app).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const pipeline = async (count: number) => {
        const socket = connect(port, '127.0.0.1');
        for (let number = 0; number < count; number += 1)
          socket.write(
            `GET /${number} HTTP/1.1\r\nHost: a\r\n${number === count - 1 ? 'Connection: close\r\n' : ''}\r\n`,
          );
        let text = '';
        socket.on('data', (data: Buffer) => (text += data.toString()));
        socket.on('error', () => undefined);
        const closed = once(socket, 'close');
        return { closed, answers: () => text.match(/<\d+>/g) ?? [] };
      };

      const few = await pipeline(21);
      await until(() => held.length === 21);
      held
        .splice(0)
        .reverse()
        .forEach((answer) => answer());
      await few.closed;
      expect(few.answers()).toEqual(Array.from({ length: 21 }, (_, number) => `<${number}>`));

      const many = await pipeline(2_000);
      await many.closed;
      expect(many.answers()).toEqual([]);
      expect(held).toHaveLength(21);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  // guard http-server-4: a request that waits on a connection ends with it, once
  // src/http/http-server.ts
  // - if (answer.socket === null && !answer.destroyed) answer.destroy()
  // + answer.destroy()
  it('emits close once for each pipelined request when their connection is gone', async () => {
    const begun: string[] = [];
    const ended: string[] = [];
    const app = express().get('/:number', ({ params: { number } }, res) => {
      begun.push(String(number));
      res.on('close', () => ended.push(res.destroyed ? String(number) : 'not destroyed'));
      if (number === '1') res.send('answered, and not sent yet');
    });
    const server = createHttpServer(app).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      for (const number of [0, 1, 2, 3]) socket.write(`GET /${number} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await until(() => begun.length === 4);
      socket.destroy();
      await until(() => ended.length >= 4);
      expect(ended.sort()).toEqual(begun);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  describe('and slow readers of answers', () => {
    const PATIENCE_MS = 300;
    /** Time that `pace` gives for what the socket buffers hold: less than a second. */
    const pace = { patienceMs: PATIENCE_MS, leastBytesPerMs: 10_000 };
    const PIECE = Buffer.alloc(65_536, 'x');

    let server: Server;
    afterEach(() => {
      server.closeAllConnections();
      server.close();
    });

    /** Opens a client that reads only what the test reads. */
    async function askOf(app: Express, settings: typeof pace): Promise<Socket> {
      server = createHttpServer(app, settings).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
      client.on('error', () => undefined);
      client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      return client;
    }

    // guard http-server-1: a client that reads too slowly loses its connection
    // src/http/slow-readers.ts
    // - socket.destroy();
    // + ;
    it.each([
      ['not at all', 0],
      ['in drops', 10],
    ])('closes the connection of a client that reads %s', async (_how, bytes) => {
      let isClosed = false;
      const app = express().get('/', (_req, res) => {
        const endless = new Readable({ read: () => void endless.push(PIECE) });
        endless.pipe(res.on('close', () => (isClosed = true)));
      });
      const client = await askOf(app, pace);
      const drops = setInterval(() => void (bytes > 0 && client.read(bytes)), 20);
      await until(() => isClosed);
      clearInterval(drops);
      client.destroy();
    });

    // guard http-server-2: a client has time for a large answer by its size
    // src/http/slow-readers.ts
    // - patienceMs + written / leastBytesPerMs
    // + patienceMs
    it('allows a large answer time by its size', async () => {
      const whole = Buffer.alloc(20_000_000, 'x');
      const client = await askOf(
        express().get('/', (_req, res) => void res.send(whole)),
        { ...pace, leastBytesPerMs: 1_000 },
      );
      await new Promise((resolve) => setTimeout(resolve, 5 * PATIENCE_MS));
      let read = 0;
      client.on('data', (data: Buffer) => (read += data.length)).resume();
      await once(client, 'close');
      expect(read).toBeGreaterThan(whole.length);
    });

    // guard http-server-3: a client does not lose time while its answer is still being made
    // src/http/slow-readers.ts
    // - if (left === 0)
    // + if (left < 0)
    it('allows time for an answer that is not made yet', async () => {
      const app = express().get('/', (_req, res) => {
        res.write('begun');
        setTimeout(() => res.end('done'), 5 * PATIENCE_MS);
      });
      const client = await askOf(app, pace);
      let text = '';
      client.on('data', (data: Buffer) => (text += data.toString())).resume();
      await once(client, 'close');
      expect(text).toContain('done');
    });
  });
});
