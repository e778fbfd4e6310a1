import { dirname, join } from 'node:path';
import { Router } from 'express';
import { get, methods } from '../http/route';
import type { Meter } from '../http/shared-text';
import { ownFile, servingFiles } from './page-file';

/** The package has no code for Node: only two of its files are served. */
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));

/** Path of the messages that were sent, in development. */
const INBOX = 'dev/inbox';

/** Serves the page for reading and trying operations. All on it is public: the description, and answers to calls. */
export function docsRouter({ hasInbox }: { hasInbox: boolean }, meter: Meter): Router {
  // The page has relative addresses, so that a proxy can put it under any path; a final slash would change them.
  const router = Router({ strict: true });
  const serve = servingFiles(router, meter);
  serve('/docs', ownFile('docs.html'), (html) => html.replaceAll('{{inbox}}', hasInbox ? INBOX : ''));
  get(router, '/docs/', (_req, res) => res.redirect('../docs'));
  // The address that is printed at the start, in a browser. A POST is an upload, which a later router answers.
  methods(router, '/', {
    get: [(_req, res) => res.redirect('docs')],
    post: [(_req, _res, next) => next('route')],
  });
  for (const name of ['page.css', 'icon.svg', 'docs.css', 'messages.mjs', 'first-run.mjs', 'reference.mjs'])
    serve(`/docs/${name}`, ownFile(name));
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) serve(`/docs/${name}`, join(SWAGGER_UI, name));
  return router;
}
