import type { Foundation } from '../../foundation/foundation';
import { gauge, tallied } from '../../foundation/part';
import {
  chooseMessagingProvider,
  type MessagingSettings,
} from '../../integrations/messaging/choose-messaging-provider';
import type { KeptTokens } from '../../integrations/messaging/rongcloud/provider';
import { DELIVERIES, DELIVERY_LAG } from '../events/figures';
import type { UsersRepository } from '../users/users-repository';
import type { MessagingChangesRepository } from './messaging-changes-repository';
import type { MessagingCopy } from './messaging-copy';
import { MessagingUpdates } from './messaging-updates';
import { OriginalsRepository } from './originals-repository';

interface Repositories {
  messagingChanges: MessagingChangesRepository;
  messagingCopy: MessagingCopy;
  messagingTokens: KeptTokens;
  users: UsersRepository;
}

/** `privateKey` signs the tokens of `jwt`, and those for other services. */
export async function buildMessaging(
  { repos, connections, logger, observeCall: observe, vendorTimeoutMs: timeoutMs }: Foundation<Repositories>,
  settings: MessagingSettings,
  privateKey: string,
) {
  const originals = new OriginalsRepository(connections.db, repos.users);
  const deps = { privateKey, keptTokens: repos.messagingTokens, originals, timeoutMs, observe };
  const { messaging, follower, signer, jwks } = await chooseMessagingProvider(settings, deps);
  const updates = new MessagingUpdates(follower, repos.messagingChanges, repos.messagingCopy, logger);
  return {
    messaging,
    signer,
    jwks,
    messagingCopy: repos.messagingCopy,
    part: {
      workers: [updates],
      figures: [
        tallied(DELIVERIES, updates.counts),
        gauge(DELIVERY_LAG, async () => [[['messaging'], await updates.secondsWaiting()]]),
      ],
    },
  };
}
