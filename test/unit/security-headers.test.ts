import express from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { SAME_HEADERS } from '../../src/http/head';

const NONE = ["'none'"];
const directives = { defaultSrc: NONE, objectSrc: NONE, baseUri: NONE, frameAncestors: NONE };

/** Returns the headers of an empty Express answer after `middleware`. */
async function headersBehind(middleware: express.RequestHandler[]): Promise<[name: string, value: string][]> {
  const app = express().disable('x-powered-by');
  app.use(...middleware, (_req, res) => void res.end());
  const { headers } = await request(app).get('/');
  return Object.entries(headers as Record<string, string>);
}

it('every answer has the headers that helmet sets, and is not stored', async () => {
  const withHelmet = await headersBehind([helmet({ contentSecurityPolicy: { useDefaults: false, directives } })]);
  const names = new Set((await headersBehind([])).map(([name]) => name));
  const helmets = withHelmet.filter(([name]) => !names.has(name));
  const ours = Object.entries(SAME_HEADERS).map(([name, value]) => [name.toLowerCase(), value]);
  expect(Object.fromEntries(ours)).toEqual({ ...Object.fromEntries(helmets), 'cache-control': 'no-store' });
});
