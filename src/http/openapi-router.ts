import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import { z } from 'zod';
import type { Endpoint } from './endpoint';
import { cookieName } from './cookies';
import { inOpenApi30 } from './openapi-3-0';
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

/** For generators of clients that do not read 3.1. */
export const openApi30: Endpoint = {
  ...openApi,
  path: '/openapi-3.0.json',
  name: 'openApi30',
  summary: 'This document in OpenAPI 3.0.',
  answer: {
    type: 'application/json',
    result: z.unknown().meta({ type: 'object', examples: [{ openapi: '3.0.3' }] }),
  },
};

/** The same place in the sources and in what is built of them. */
const FILE = join(__dirname, '../../docs/openapi.json');

interface Document {
  components: { securitySchemes: { sid: { name: string } } };
  externalDocs: object;
}

/** The description of all of the service, with this service's own address and the name of its cookie. */
export function openApiRouter(production: boolean, hasDocsPage: boolean, publicUrlOf: PublicUrlOf): Router {
  const router = Router();
  const { externalDocs, ...document } = JSON.parse(readFileSync(FILE, 'utf8')) as Document;
  document.components.securitySchemes.sid.name = cookieName('sid', production);
  const at = (url: string) => ({
    ...document,
    ...(hasDocsPage && { externalDocs: { ...externalDocs, url: `${url}/docs` } }),
    servers: [{ url }],
  });
  serve(router, openApi.path, publicUrlOf, at);
  serve(router, openApi30.path, publicUrlOf, (url) => inOpenApi30(at(url)));
  return router;
}

function serve(router: Router, path: string, publicUrlOf: PublicUrlOf, documentAt: (url: string) => object): void {
  let made = { url: '', text: '' };

  get(router, path, (req, res) => {
    const url = publicUrlOf(req);
    // Anybody may ask, and it is long: made once for an address, which is nearly always the same.
    if (made.url !== url) made = { url, text: JSON.stringify(documentAt(url)) };
    res.set('Cache-Control', 'public, max-age=300').type('json').send(made.text);
  });
}
