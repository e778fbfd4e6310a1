import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createHttpServer } from '../../src/http/http-server';

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
});
