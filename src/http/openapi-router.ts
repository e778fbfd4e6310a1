import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import { z } from 'zod';
import type { Endpoint } from './endpoint';
import { cookieName } from './cookies';
import { inOpenApi30 } from './openapi-3-0';
import type { PublicUrlOf } from './public-url';
import { get } from './route';
import { sharedText, type Meter, type SendText } from './shared-text';

export const openApi: Endpoint = {
  method: 'get',
  path: '/openapi.json',
  name: 'openApi',
  summary: 'This document.',
  answer: {
    type: 'application/json',
    result: z.unknown().meta({ type: 'object', examples: [{ openapi: '3.1.1' }] }),
  },
  refusals: ['too_many_downloads'],
};

/** For client generators that do not read 3.1. */
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

/** Path that is the same for the sources and the build. */
const FILE = join(__dirname, '../../docs/openapi.json');

interface Document {
  components: { securitySchemes: { sid: { name: string } } };
  externalDocs: object;
}

export interface Described {
  production: boolean;
  hasDocsPage: boolean;
  publicUrlOf: PublicUrlOf;
}

const CACHED = { 'Cache-Control': 'public, max-age=300' };

/** Serves the description of the service, with its own address and the name of its cookie. */
export function openApiRouter({ production, hasDocsPage, publicUrlOf }: Described, meter: Meter): Router {
  const router = Router();
  const { externalDocs, ...document } = JSON.parse(readFileSync(FILE, 'utf8')) as Document;
  document.components.securitySchemes.sid.name = cookieName('sid', production);
  const documentFor = (url: string) => ({
    ...document,
    ...(hasDocsPage && { externalDocs: { ...externalDocs, url: `${url}/docs` } }),
    servers: [{ url }],
  });
  const serve = documentServer(router, publicUrlOf, meter);
  serve(openApi.path, documentFor);
  serve(openApi30.path, (url) => inOpenApi30(documentFor(url)));
  return router;
}

/** Returns a function that serves a document, made for the address of the service, at a path of the router. */
export function documentServer(router: Router, publicUrlOf: PublicUrlOf, meter: Meter) {
  return (path: string, make: (url: string) => object): void => {
    // Anyone may ask, and it is long: made once per address, which is nearly always the same.
    let last: { url: string; sending: Promise<SendText> } | undefined;
    get(router, path, async (req, res) => {
      const url = publicUrlOf(req);
      if (last?.url !== url) last = { url, sending: sharedText(JSON.stringify(make(url)), 'json', CACHED) };
      const send = await last.sending;
      await send(req, res, meter);
    });
  };
}
