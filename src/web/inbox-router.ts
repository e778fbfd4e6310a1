import { Router } from 'express';
import { get, ok } from '../http/route';
import type { Inbox } from '../integrations/sms/inbox';
import { fromThisMachine } from './own-machine';
import { ownFile, serve } from './page-file';

/** The messages of development, for whoever works at this machine. In production nothing of this is there. */
export function inboxRouter(inbox: Inbox): Router {
  const router = Router({ strict: true });
  router.use('/dev', fromThisMachine);
  serve(router, '/dev/inbox', ownFile('inbox.html'));
  for (const name of ['page.css', 'inbox.mjs']) serve(router, `/dev/inbox/${name}`, ownFile(name));

  get(router, '/dev/inbox.json', (_req, res) => {
    ok(
      res,
      inbox.newestFirst().map(({ to, body, code, at }) => ({ to, body, code, at: at.toISOString() })),
    );
  });

  return router;
}
