import { Router } from 'express';
import { NotFound } from '../base/errors';
import { isSameText } from '../base/secrets';
import { get, ok } from '../http/route';
import type { Meter } from '../http/shared-text';
import type { Inbox } from '../integrations/senders/inbox';
import { fromThisMachine } from './own-machine';
import { ownFile, servingFiles } from './page-file';

/** Other pages that /dev links to. */
export interface Links {
  hasDocs: boolean;
  /** Address of the metrics, once they are served. */
  metricsUrl: () => string | undefined;
}

const WITHOUT_TOKEN = 'the inbox needs its token: open the link that the service printed at its start';

/**
 * Serves the pages of development to a browser on this machine: links, and the messages. The messages also need the
 * token: a proxy on this machine that does not identify itself looks like a browser. In production there is no inbox.
 */
export function inboxRouter(inbox: Inbox, token: string, links: Links, meter: Meter): Router {
  const router = Router({ strict: true });
  const serve = servingFiles(router, meter);
  router.use('/dev', fromThisMachine);
  serve('/dev', ownFile('dev.html'), (html) =>
    html.replace('{{docs}}', links.hasDocs ? 'docs' : '').replaceAll('{{metrics}}', links.metricsUrl() ?? ''),
  );
  for (const name of ['page.css', 'icon.svg', 'messages.mjs']) serve(`/dev/${name}`, ownFile(name));
  serve('/dev/inbox', ownFile('inbox.html'));
  for (const name of ['page.css', 'icon.svg', 'messages.mjs', 'inbox.mjs']) serve(`/dev/inbox/${name}`, ownFile(name));

  get(router, '/dev/inbox.json', (req, res) => {
    if (!isSameText(req.get('Authorization') ?? '', `Bearer ${token}`))
      throw new NotFound('no_such_path', WITHOUT_TOKEN);
    ok(
      res,
      inbox.newestFirst().map(({ to, body, code, at }) => ({ to, body, code, at: at.toISOString() })),
    );
  });

  return router;
}
