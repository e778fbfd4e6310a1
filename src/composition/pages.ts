import type { Router } from 'express';
import type { Config } from '../config';
import type { Inbox } from '../integrations/sms/inbox';
import { docsRouter } from '../web/docs-router';
import { inboxRouter } from '../web/inbox-router';
import { OWN_NAMES } from '../web/own-machine';

type Inboxed = Pick<Config, 'http' | 'production' | 'sms'>;

/**
 * Messages are kept, to be read, in development alone, where nobody is sent any, and where no proxy is known of: what it
 * hands on looks as if it came from this machine.
 */
export function hasInbox({ http, production, sms }: Inboxed): boolean {
  const isBehindProxy = http.trustProxy !== false || (http.publicUrl !== undefined && !isOwn(http.publicUrl));
  return !production && sms.provider !== 'twilio' && !isBehindProxy;
}

function isOwn(url: string): boolean {
  return OWN_NAMES.includes(new URL(url).hostname);
}

export function pages({ http }: Config, inbox: Inbox | undefined, inboxToken: string): Router[] {
  return [
    ...(http.docsPage ? [docsRouter({ hasInbox: inbox !== undefined })] : []),
    ...(inbox ? [inboxRouter(inbox, inboxToken)] : []),
  ];
}

/** The links that are printed at the start. With an inbox they hold its token. */
export function pagePaths(config: Inboxed, inboxToken: string): string[] {
  const paths = [...(config.http.docsPage ? ['/docs'] : []), ...(hasInbox(config) ? ['/dev/inbox'] : [])];
  return hasInbox(config) ? paths.map((path) => `${path}#inbox=${inboxToken}`) : paths;
}
