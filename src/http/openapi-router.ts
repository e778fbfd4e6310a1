import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import { z } from 'zod';
import type { Endpoint } from './endpoint';
import { cookieName } from './cookies';
import type { PublicUrlOf } from './public-url';
import { get } from './route';

export const openApi: Endpoint = {
  method: 'get',
  path: '/openapi.json',
  name: 'openApi',
  summary: 'This document.',
  answer: {
    type: 'application/json',
    result: z.unknown().meta({ type: 'object', examples: [{ openapi: '3.1.1' }] }),
  },
};

/** The same place in the sources and in what is built of them. */
const FILE = join(__dirname, '../../docs/openapi.json');

interface Document {
  components: { securitySchemes: { sid: { name: string } } };
}

/** The description of all of the service, with this service's own address and the name of its cookie. */
export function openApiRouter(production: boolean, publicUrlOf: PublicUrlOf): Router {
  const router = Router();
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as Document;
  document.components.securitySchemes.sid.name = cookieName('sid', production);

  let made = { url: '', text: '' };

  get(router, openApi.path, (req, res) => {
    const url = publicUrlOf(req);
    // Anybody may ask, and it is long: made once for an address, which is nearly always the same.
    if (made.url !== url) made = { url, text: JSON.stringify({ ...document, servers: [{ url }] }) };
    res.set('Cache-Control', 'public, max-age=300').type('json').send(made.text);
  });

  return router;
}
