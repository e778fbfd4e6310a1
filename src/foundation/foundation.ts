import type { Logger } from 'pino';
import type { openConnections } from '../database/connections';
import type { Transaction } from '../database/transaction';
import type { PublicUrlOf } from '../http/public-url';
import type { CallObserver } from '../integrations/calls';
import type { Background } from '../load/background';
import type { Queues } from '../load/queues';

/** Things that every feature is built on. A feature names those repositories that it uses. */
export interface Foundation<Repositories = unknown> {
  connections: ReturnType<typeof openConnections>;
  queues: Queues;
  /** Work after answers. */
  background: Record<'securityEvents' | 'notices' | 'ends', Background>;
  logger: Logger;
  repos: Repositories;
  transaction: Transaction<Repositories>;
  /** For work after answers, whose statements may take longer. */
  slowTransaction: Transaction<Repositories>;
  publicUrlOf: PublicUrlOf;
  sessionSecrets: string[];
  /** Told of each call to a vendor. */
  observeCall: CallObserver | undefined;
  /** Time of an exchange with a sender, RongCloud or a webhook, if not the usual one. */
  vendorTimeoutMs: number | undefined;
  /** Factor of time limits. */
  patience: number | undefined;
}
