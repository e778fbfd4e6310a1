import type { Knex } from 'knex';
import type { Source } from '../database/statement';
import { ClosingsRepository } from '../features/account/closings-repository';
import { NumberClaimsRepository } from '../features/account/number-claims-repository';
import { SecurityEventsRepository } from '../features/audit/security-events-repository';
import { BlacklistRepository } from '../features/blacklist/blacklist-repository';
import { EventsRepository } from '../features/events/events-repository';
import { FriendshipsRepository } from '../features/friendships/friendships-repository';
import { DismissalsRepository } from '../features/groups/dismissals-repository';
import { GroupsRepository } from '../features/groups/groups-repository';
import { MembershipsRepository } from '../features/groups/memberships-repository';
import { ImagesRepository } from '../features/images/images-repository';
import { MessagingChangesRepository } from '../features/messaging/messaging-changes-repository';
import { MessagingCopy } from '../features/messaging/messaging-copy';
import { SessionsRepository } from '../features/sessions/sessions-repository';
import { WaysRepository } from '../features/sending/ways-repository';
import { SmsTrafficRepository } from '../features/spend-guard/sms-traffic-repository';
import { MessagingTokensRepository } from '../features/tokens/messaging-tokens-repository';
import { UsersRepository } from '../features/users/users-repository';
import { CaptchasRepository } from '../features/verification/captchas-repository';
import { VerificationRepository } from '../features/verification/verification-repository';
import { VerificationTokensRepository } from '../features/verification/verification-tokens-repository';
import { WebhooksRepository } from '../features/webhooks/webhooks-repository';

/** Creates every repository, on a pool or in one transaction. `reads` is for frequent look-ups. */
export function repositories(db: Knex, reads: Source = db) {
  return {
    blacklist: new BlacklistRepository(db),
    captchas: new CaptchasRepository(db),
    closings: new ClosingsRepository(db),
    dismissals: new DismissalsRepository(db),
    events: new EventsRepository(db),
    friendships: new FriendshipsRepository(db),
    groups: new GroupsRepository(db),
    images: new ImagesRepository(db),
    memberships: new MembershipsRepository(db),
    messagingChanges: new MessagingChangesRepository(db),
    messagingCopy: new MessagingCopy(db),
    messagingTokens: new MessagingTokensRepository(db),
    numberClaims: new NumberClaimsRepository(db),
    securityEvents: new SecurityEventsRepository(db),
    sessions: new SessionsRepository(db),
    smsTraffic: new SmsTrafficRepository(db),
    users: new UsersRepository(db, reads),
    webhooks: new WebhooksRepository(db),
    ways: new WaysRepository(db),
    verification: new VerificationRepository(db),
    verificationTokens: new VerificationTokensRepository(db),
  };
}
