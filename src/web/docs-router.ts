import { dirname, join } from 'node:path';
import { Router } from 'express';
import { get } from '../http/route';
import type { Meter } from '../http/shared-text';
import { ownFile, servingFiles } from './page-file';

/** The package has no code for Node: only two of its files are served. */
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));

/** Where the page finds the messages that were sent, in development. */
const INBOX = 'dev/inbox';

/** The page on which the operations are described and tried. What it shows is public: the description, and what calls answer. */
export function docsRouter({ hasInbox }: { hasInbox: boolean }, meter: Meter): Router {
  // The addresses in the page are relative, so that it can be below any path of a proxy; with a slash they would be others.
  const router = Router({ strict: true });
  const serve = servingFiles(router, meter);
  serve('/docs', ownFile('docs.html'), (html) => html.replace('{{inbox}}', hasInbox ? INBOX : ''));
  get(router, '/docs/', (_req, res) => res.redirect('../docs'));
  for (const name of ['page.css', 'docs.css', 'messages.mjs', 'first-run.mjs', 'reference.mjs'])
    serve(`/docs/${name}`, ownFile(name));
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) serve(`/docs/${name}`, join(SWAGGER_UI, name));
  return router;
}
