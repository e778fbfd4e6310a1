import type { Logger } from 'pino';
import type { Config } from '../config/config';
import { openConnections } from '../database/connections';
import { limitedTransactions, transactions } from '../database/transaction';
import type { Foundation } from '../foundation/foundation';
import { publicUrlFrom } from '../http/public-url';
import type { Sender } from '../integrations/senders/sender';
import { Background } from '../load/background';
import { openQueues } from '../load/queues';
import type { Keys } from '../start/keys';
import type { Observers } from './observers';
import { repositories } from './repositories';

export interface Outside {
  databaseUrl: string;
  keys: Keys;
  logger: Logger;
  /** Replaces the configured senders. */
  sms?: Sender;
  /** Time of an exchange with a sender, RongCloud or a webhook, if not the usual one. */
  vendorTimeoutMs?: number | undefined;
  /** Time of a request until it is answered with 503, if not the usual one. */
  deadlineMs?: number | undefined;
  /** Factor of the time limits of the database, its readers and the queues: tests wait longer on a busy machine. */
  patience?: number | undefined;
  observers?: Observers;
}

/** Longest statement of a slow transaction, and its longest wait for a lock. */
const SLOW = { statementMs: 30_000, lockMs: 1_000 };

/** Opens what all features use. */
export function openFoundation(config: Config, outside: Outside): Foundation<ReturnType<typeof repositories>> {
  const { databaseUrl, keys, logger, observers, patience = 1, vendorTimeoutMs } = outside;
  const connections = openConnections(databaseUrl, { ...config.database, patience }, logger, observers?.statement);
  const queues = openQueues(patience);
  return {
    connections,
    queues,
    background: {
      securityEvents: new Background(logger, queues.securityEvents),
      notices: new Background(logger, queues.notices),
      ends: new Background(logger, queues.ends),
    },
    logger,
    repos: repositories(connections.db, connections.reads),
    transaction: transactions(connections.db, repositories),
    slowTransaction: limitedTransactions(connections.slow, repositories, {
      statementMs: patience * SLOW.statementMs,
      lockMs: patience * SLOW.lockMs,
    }),
    publicUrlOf: publicUrlFrom(config.http.publicUrl),
    sessionSecrets: keys.sessionSecrets,
    observeCall: observers?.call,
    vendorTimeoutMs,
    patience,
  };
}
