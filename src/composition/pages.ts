import type { Router } from 'express';
import type { Config } from '../config';
import type { Inbox } from '../integrations/sms/inbox';
import { docsRouter } from '../web/docs-router';
import { inboxRouter } from '../web/inbox-router';

/** Messages are kept, to be read, in development alone, and where nobody is sent any. */
export function hasInbox({ production, sms }: Pick<Config, 'production' | 'sms'>): boolean {
  return !production && sms.provider !== 'twilio';
}

export function pages({ http }: Config, inbox: Inbox | undefined): Router[] {
  return [
    ...(http.docsPage ? [docsRouter({ hasInbox: inbox !== undefined })] : []),
    ...(inbox ? [inboxRouter(inbox)] : []),
  ];
}

/** For whoever starts the service. */
export function pagePaths(config: Pick<Config, 'http' | 'production' | 'sms'>): string[] {
  return [...(config.http.docsPage ? ['/docs'] : []), ...(hasInbox(config) ? ['/dev/inbox'] : [])];
}
