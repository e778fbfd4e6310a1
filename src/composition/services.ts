import type { Logger } from 'pino';
import type { Config } from '../config/config';
import { openConnections } from '../database/connections';
import { transactions } from '../database/transaction';
import { AccountService } from '../features/account/account-service';
import { ClosingsService } from '../features/account/closings-service';
import { ExportService } from '../features/account/export-service';
import { AuditTrail } from '../features/audit/audit-trail';
import { KnownPlaces } from '../features/audit/known-places';
import { AuthService } from '../features/auth/auth-service';
import { HashingPool } from '../features/auth/hashing-pool';
import { LoginAttempts } from '../features/auth/login-attempts';
import { OwnPassword } from '../features/auth/own-password';
import { Passwords } from '../features/auth/passwords';
import { BlacklistService } from '../features/blacklist/blacklist-service';
import { FriendshipsService } from '../features/friendships/friendships-service';
import { DismissalsService } from '../features/groups/dismissals-service';
import { GroupsService } from '../features/groups/groups-service';
import { MembershipsService } from '../features/groups/memberships-service';
import { RolesService } from '../features/groups/roles-service';
import { ImageAccounts } from '../features/images/image-accounts';
import { Limiter, type LimitMet } from '../features/limits/limiter';
import { KnownDevices } from '../features/notices/known-devices';
import { Notices } from '../features/notices/notices';
import { ProfileService } from '../features/profile/profile-service';
import { SessionsService } from '../features/sessions/sessions-service';
import { SpendGuard } from '../features/spend-guard/spend-guard';
import { SyncRepository } from '../features/sync/sync-repository';
import { SyncService } from '../features/sync/sync-service';
import { TokensService } from '../features/tokens/tokens-service';
import { UsersService } from '../features/users/users-service';
import { CaptchaService } from '../features/verification/captcha-service';
import { CodeSender } from '../features/verification/code-sender';
import { SendCodeService } from '../features/verification/send-code-service';
import { VerificationCodes } from '../features/verification/verification-code';
import { VerifyCodeService } from '../features/verification/verify-code-service';
import { publicUrlFrom } from '../http/public-url';
import { chooseCaptchas } from '../integrations/captcha/choose-captchas';
import { chooseMessagingProvider } from '../integrations/messaging/choose-messaging-provider';
import { TokenEnds } from '../integrations/messaging/token-ends';
import { chooseSmsSender } from '../integrations/sms/choose-sms-sender';
import { Inbox } from '../integrations/sms/inbox';
import type { SmsSender } from '../integrations/sms/sms-sender';
import { chooseImageStorage } from '../integrations/storage/choose-image-storage';
import { Background } from '../load/background';
import { openQueues } from '../load/queues';
import { Sweeper } from '../load/sweeper';
import type { Keys } from '../start/keys';
import { downloadMeter, hasInbox } from './pages';
import { repositories } from './repositories';

/** At the end, for what is under way behind the answers. */
const FINISH_MS = 4_000;

/** Captchas are large, and anybody can ask for many. */
const CAPTCHA_SWEEP_MS = 60_000;

/** While the messaging provider does not know that tokens have ended, they go on. */
const TELLING_MS = 60_000;

export interface Outside {
  databaseUrl: string;
  keys: Keys;
  logger: Logger;
  /** Replaces the configured sender. */
  sms?: SmsSender;
}

export type Services = Awaited<ReturnType<typeof buildServices>>;

/** What the service does, without HTTP: the container serves it, and a command line or a worker can use it as well. */
export async function buildServices(config: Config, { databaseUrl, keys, logger, ...outside }: Outside) {
  const queues = openQueues();
  const connections = openConnections(databaseUrl, config.database, logger);
  const { db, reads } = connections;
  const repos = repositories(db, reads);
  const counting = repositories(connections.counting);
  const transaction = transactions(db, repositories);
  const { users, verification } = repos;

  const sender = outside.sms ?? (await chooseSmsSender(config.sms));
  const inbox = hasInbox(config) ? new Inbox(sender) : undefined;
  const sms = inbox ?? sender;
  const messagingParts = { privateKey: keys.messagingJwtKey, keptTokens: repos.messagingTokens };
  const { messaging, jwks } = await chooseMessagingProvider(config.messaging, messagingParts);
  const tokenEnds = new TokenEnds(messaging, repos.messagingTokens, logger);

  const noting = new Background(logger, queues.securityEvents);
  const audit = new AuditTrail(counting.securityEvents, counting.limits, logger, noting);
  const limitMet: LimitMet = async (use, caller) => {
    notices.limitMet(use, caller);
    await audit.noteLimitMet(use, caller);
  };
  const limiter = new Limiter(counting.limits, config.limits, limitMet, queues);
  const telling = new Background(logger, queues.notices);
  const devices = new KnownDevices(repos.securityEvents);
  const noticeParts = { sms, users, devices, limiter, audit, background: telling, logger };
  const notices: Notices = new Notices(noticeParts, config.notices);
  const images = new ImageAccounts({ images: repos.images, users, transaction, limiter });
  const publicUrlOf = publicUrlFrom(config.http.publicUrl);
  const { storage, uploads } = await chooseImageStorage(config.storage, keys.sessionSecrets, {
    book: images,
    queues,
    publicUrlOf,
  });
  const hashing = new HashingPool(queues.hashing);
  const passwords = new Passwords(config.passwords.bcryptCost, hashing);
  const places = new KnownPlaces(repos.securityEvents);
  const attempts = new LoginAttempts(limiter, queues, places);
  const ownPassword = new OwnPassword({ users, passwords, attempts, audit });

  const codes = new VerificationCodes(keys.sessionSecrets);
  const chosenCaptchas = await chooseCaptchas(config.captcha, { kept: repos.captchas, queues, logger });
  const captchas = new CaptchaService(chosenCaptchas.captchas, limiter);
  const codeSender = new CodeSender(verification, codes, sms, config.verification);
  const guardParts = { traffic: repos.smsTraffic, limiter, audit, logger };
  const spendGuard = new SpendGuard(guardParts, config.verification.spendGuard);
  const sendingParts = { sender: codeSender, captchas, limiter, spendGuard, places, audit, logger };

  const sessionsParts = { sessions: repos.sessions, tokenEnds, limiter, transaction };
  const sessions = new SessionsService(sessionsParts, config.sessions.maxDays);

  const ending = new Background(logger, queues.ends);
  const dismissals = new DismissalsService({ dismissals: repos.dismissals, transaction, background: ending });
  const closings = new ClosingsService({ closings: repos.closings, transaction, background: ending, logger });
  const friendshipsParts = { friendships: repos.friendships, transaction };
  const friendships = new FriendshipsService(friendshipsParts, config.mostFriendships);

  const sweeps = [
    () => storage.sweep(),
    () => repos.limits.sweep(),
    () => verification.sweep(),
    () => repos.smsTraffic.sweep(),
    () => repos.securityEvents.sweep(config.auditDays),
    () => dismissals.sweep(),
    () => closings.sweep(),
    () => friendships.sweep(),
  ];
  const sweepers = [
    new Sweeper(sweeps, logger),
    new Sweeper([() => repos.captchas.sweep()], logger, CAPTCHA_SWEEP_MS),
    new Sweeper([() => tokenEnds.sweep()], logger, TELLING_MS),
  ];

  return {
    connections,
    inbox,
    jwks,
    publicUrlOf,
    /** Of what is downloaded by strangers. */
    meter: downloadMeter(limiter),
    uploads,
    queues,
    limiter,
    account: new AccountService({
      ...{ users, verification, ownPassword, closings, storage, tokenEnds },
      ...{ notices, transaction, logger },
    }),
    auth: new AuthService({
      ...{ users, verification, sessions: repos.sessions, passwords, attempts, ownPassword, queues },
      ...{ messaging, tokenEnds, audit, notices, transaction, logger },
    }),
    blacklist: new BlacklistService({ blacklist: repos.blacklist, transaction }, config.maxBlacklist),
    captchas,
    shownCaptchas: chosenCaptchas.shown,
    exporting: new ExportService(repos.export, sessions, audit, queues),
    friendships,
    dismissals,
    groups: new GroupsService(
      { groups: repos.groups, memberships: repos.memberships, transaction },
      config.groups,
      config.portraits,
    ),
    memberships: new MembershipsService({ memberships: repos.memberships, transaction }, config.groups),
    roles: new RolesService(transaction),
    profile: new ProfileService({ users, messaging, storage, logger }, config.portraits),
    sending: new SendCodeService(sendingParts, config.verification),
    sessions,
    keptSessions: repos.sessions,
    sync: new SyncService(new SyncRepository(connections.syncReads, db), queues),
    tokens: new TokensService(users, messaging, storage),
    users: new UsersService(users),
    verifying: new VerifyCodeService({ verification, codes, users, limiter, places, audit }, config.verification),
    /** At once, what is otherwise done now and then. */
    sweep: async () => {
      for (const sweeper of sweepers) await sweeper.sweep();
    },
    close: async () => {
      for (const sweeper of sweepers) sweeper.close();
      const behindAnswers = [noting, telling, ending].map((work) => work.finish(FINISH_MS));
      await Promise.all([...behindAnswers, storage.close()]);
      await hashing.close();
      await connections.close();
    },
  };
}
