import type { Config } from '../config/config';
import { buildAccount } from '../features/account/build-account';
import { buildAudit } from '../features/audit/build-audit';
import { buildAuth } from '../features/auth/build-auth';
import { buildBlacklist } from '../features/blacklist/build-blacklist';
import { buildEvents } from '../features/events/build-events';
import { buildFriendships } from '../features/friendships/build-friendships';
import { buildGroups } from '../features/groups/build-groups';
import { buildImages } from '../features/images/build-images';
import { buildLimits } from '../features/limits/build-limits';
import { buildMessaging } from '../features/messaging/build-messaging';
import { buildNotices } from '../features/notices/build-notices';
import { buildProfile } from '../features/profile/build-profile';
import { buildSending } from '../features/sending/build-sending';
import { buildSessions } from '../features/sessions/build-sessions';
import { buildSpendGuard } from '../features/spend-guard/build-spend-guard';
import { buildSync } from '../features/sync/build-sync';
import { buildTokens } from '../features/tokens/build-tokens';
import { buildUsers } from '../features/users/build-users';
import { buildVerification } from '../features/verification/build-verification';
import { buildWebhooks } from '../features/webhooks/build-webhooks';
import type { Part } from '../foundation/part';
import { openFoundation, type Outside } from './open-foundation';
import { downloadMeter, hasInbox } from './pages';
import { Parts } from './parts';

export type Services = Awaited<ReturnType<typeof buildServices>>;

/** Builds the service without HTTP: each feature after those that it uses. */
export async function buildServices(config: Config, outside: Outside) {
  const base = openFoundation(config, outside);
  await base.connections.learn();
  const brought: Part[] = [];
  const add = <Feature extends object>({ part, ...feature }: Feature & { part?: Part }) => {
    if (part) brought.push(part);
    return feature;
  };

  const limits = add(buildLimits(base, config.limits));
  const audit = add(buildAudit({ ...base, ...limits }, config.auditDays));
  const sending = add(await buildSending(base, { ...config, hasInbox: hasInbox(config) }, outside.sms));
  const watch = { ...base, ...limits, ...audit, ...sending };
  const { notices } = add(buildNotices(watch, config.notices));
  const images = add(await buildImages(watch, config.storage));
  const { spendGuard } = add(buildSpendGuard(watch, config.verification.spendGuard));
  const verification = add(
    await buildVerification(
      { ...watch, spendGuard },
      {
        rules: config.verification,
        captcha: config.captcha,
        senders: config.sms.senders,
        testNumbers: config.secrets.testNumbers,
      },
    ),
  );
  const { sessions } = add(buildSessions(watch, config.sessions.maxDays));
  const messaging = add(await buildMessaging(base, config.messaging, outside.keys.messagingJwtKey));
  const known = { ...watch, notices, ...images, ...verification, sessions, ...messaging };
  const auth = add(buildAuth(known, { ...config.passwords, ...config.tokenLogins }));
  const groups = add(buildGroups(base, config.groups, config.portraits));
  const webhooks = add(buildWebhooks(base, config.webhookNetworks));
  const sync = add(buildSync(base));
  const account = add(buildAccount({ ...known, ...auth }, { ...config, ...config.verification }));
  const { friendships } = add(buildFriendships(base, config.mostFriendships));
  const { users } = add(buildUsers(base));
  const { profile } = add(buildProfile(known, config.portraits));
  const { blacklist } = add(buildBlacklist(base, config.maxBlacklist));
  const { tokens } = add(buildTokens(known, config.messaging.audiences));
  add(buildEvents(base, config.eventDays));

  return {
    ...known,
    ...auth,
    ...groups,
    ...webhooks,
    ...sync,
    ...account,
    users,
    profile,
    blacklist,
    tokens,
    spendGuard,
    friendships,
    // After all features, since each may have brought one.
    parts: new Parts(brought, base),
    /** Meter of downloads without a session. */
    meter: downloadMeter(limits.limiter),
  };
}
