import type { Router } from 'express';
import type { Config } from '../config/config';
import type { Limiter } from '../features/limits/limiter';
import { callerOf } from '../http/caller-of';
import type { Meter } from '../http/shared-text';
import type { Inbox } from '../integrations/senders/inbox';
import { docsRouter } from '../web/docs-router';
import { inboxRouter } from '../web/inbox-router';
import { OWN_NAMES } from '../web/own-machine';

type Inboxed = Pick<Config, 'http' | 'production' | 'sms'>;

/**
 * Returns whether messages are kept for reading: only in development without real messages, and without a known proxy,
 * whose requests look as if they came from this machine.
 */
export function hasInbox({ http, production, sms }: Inboxed): boolean {
  const isBehindProxy = http.trustProxy !== false || (http.publicUrl !== undefined && !isOwn(http.publicUrl));
  return !production && !sms.reachesPhones && !isBehindProxy;
}

function isOwn(url: string): boolean {
  return OWN_NAMES.includes(new URL(url).hostname);
}

/** Returns a meter that counts downloads against the limit of the address. */
export function downloadMeter(limiter: Limiter): Meter {
  return async (req, bytes) => {
    const caller = callerOf(req);
    await limiter.take(caller, { limit: 'pageKibPerHour', subject: caller.address, count: Math.ceil(bytes / 1_024) });
  };
}

export interface PageDeps {
  inbox: Inbox | undefined;
  inboxToken: string;
  metricsUrl: () => string | undefined;
  meter: Meter;
}

export function pages({ http }: Config, { inbox, inboxToken, metricsUrl, meter }: PageDeps): Router[] {
  const links = { hasDocs: http.docsPage, metricsUrl };
  return [
    ...(http.docsPage ? [docsRouter({ hasInbox: inbox !== undefined }, meter)] : []),
    ...(inbox ? [inboxRouter(inbox, inboxToken, links, meter)] : []),
  ];
}

/** Returns the links that are printed at the start. With an inbox they contain its token. */
export function pagePaths(config: Inboxed, inboxToken: string): string[] {
  const paths = [...(config.http.docsPage ? ['/docs'] : []), ...(hasInbox(config) ? ['/dev/inbox'] : [])];
  return hasInbox(config) ? paths.map((path) => `${path}#inbox=${inboxToken}`) : paths;
}
