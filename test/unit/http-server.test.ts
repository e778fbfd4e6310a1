import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import express from 'express';
import { createHttpServer } from '../../src/http/http-server';
import { until } from '../support/until';

describe("the service's HTTP server", () => {
  it('makes requests and answers with the prototypes that Express gives them, so that V8 knows their shape', async () => {
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
});
