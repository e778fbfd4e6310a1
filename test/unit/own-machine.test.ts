import express, { type Express } from 'express';
import request from 'supertest';
import { silent } from '../support/silent';
import { errorHandler, failWith } from '../../src/http/error-handler';
import { fromThisMachine } from '../../src/web/own-machine';

/** Returns an app that sees connections from this address. */
function reachedFrom(address: string): Express {
  const app = express();
  app.use((req, _res, next) => {
    Object.defineProperty(req.socket, 'remoteAddress', { value: address, configurable: true });
    next();
  });
  app.use(fromThisMachine, (_req, res) => void res.send('shown'));
  app.use(errorHandler(failWith(silent)));
  return app;
}

async function statusOf(address: string, headers: Record<string, string> = {}): Promise<number> {
  const { status } = await request(reachedFrom(address))
    .get('/')
    .set({ Host: 'localhost:8585', ...headers });
  return status;
}

describe('a page for this machine only', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('is shown to %s', async (address) => {
    expect(await statusOf(address)).toBe(200);
  });

  // guard own-machine-1: the inbox of development is only for this machine
  // src/web/own-machine.ts
  // - return isLoopback && !SET_BY_PROXIES
  // + return (isLoopback || true) && !SET_BY_PROXIES
  it.each(['192.168.0.7', '10.0.0.2', '172.17.0.1', '::ffff:192.168.0.7', 'fe80::1%eth0', '2001:db8::1', 'none'])(
    'is not shown to another machine: %s',
    async (address) => expect(await statusOf(address)).toBe(404),
  );

  // guard own-machine-2: the inbox of development is not served through a proxy on this machine
  // src/web/own-machine.ts
  // - headers[name] !== undefined
  // + false && headers[name] !== undefined
  it.each(['X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Forwarded', 'Via'])(
    'is not shown through a proxy or a tunnel on this machine: %s',
    async (name) => expect(await statusOf('127.0.0.1', { [name]: '127.0.0.1' })).toBe(404),
  );
});
