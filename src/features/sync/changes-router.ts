import { Router, type Request, type RequestHandler } from 'express';
import { refuseForeign } from '../../http/cross-site';
import type { Endpoint } from '../../http/endpoint';
import { ReaderCall } from '../../http/operation';
import { get, handled } from '../../http/route';
import type { SyncService } from './sync-service';

export const changesEndpoint: Endpoint = {
  method: 'get',
  path: '/user/changes',
  name: 'changes',
  summary: 'Tells a browser, as server-sent events, that there is something to synchronise.',
  answer: { type: 'text/event-stream' },
  refusals: ['cross_site', 'not_signed_in', 'too_many_at_once'],
};

/** Proxies cut connections off on which nothing is sent. */
const BEAT_MS = 20_000;
/** The browser connects again, so that a session is found that has expired in the meantime. */
const LIFE_MS = 300_000;
const AGAIN_MS = 3_000;

interface Entrance {
  /** Prepares reads that find the session first. */
  reading: RequestHandler;
  /** Lets a request rest until the returned function is called. Its log line does not count that time. */
  rest: (req: Request) => () => void;
}

/** After each change the session and the groups are looked up again. */
export function changesRouter(sync: SyncService, { reading, rest }: Entrance): Router {
  const router = Router();
  get(router, changesEndpoint.path, async (req, res) => {
    // A page of a sibling domain, which gets the cookie, would take all places of its visitor.
    refuseForeign(req);
    const presentCall = async () => {
      await handled(reading, req, res);
      return new ReaderCall(req, res);
    };
    const live = await sync.live(await presentCall());
    res.on('close', () => live.leave());
    const ends = performance.now() + LIFE_MS;
    let told = 0;
    let isChange = true;
    try {
      while (!res.destroyed && !live.hasEnded && performance.now() < ends) {
        const { hasRows, names } = live.takeNews();
        const version = isChange ? await sync.presentVersion(await presentCall(), live) : told;
        if (!res.headersSent) {
          res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
          res.write(`retry: ${AGAIN_MS}\n\n`);
        }
        if (live.hasEnded) break;
        for (const name of names) res.write(`event: ${name}\ndata: {}\n\n`);
        // A comment: no row of the user has changed since.
        const isNew = hasRows && version > told;
        res.write(isNew ? `id: ${version}\ndata: ${JSON.stringify({ version })}\n\n` : ':\n\n');
        if (hasRows) told = version;
        const goOn = rest(req);
        isChange = await live.wait(BEAT_MS);
        goOn();
        if (isChange) await live.turn();
      }
    } finally {
      // A refusal may have to wait for an earlier answer of the connection.
      live.leave();
    }
    res.end();
  });
  return router;
}
