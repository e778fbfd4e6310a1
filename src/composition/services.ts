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

/** Of a process that keeps images alone: until it removes those that the accounts have made due. */
const FOLLOWING_MS = 1_000;

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
type Ground = ReturnType<typeof openGround>;
type Watch = ReturnType<typeof buildWatch>;
type Vendors = Awaited<ReturnType<typeof chooseVendors>>;

/** What the service does, without HTTP: the container serves it, and a command line or a worker can use it as well. */
export async function buildServices(config: Config, outside: Outside) {
  const ground = openGround(config, outside);
  const { connections, queues, background, repos, logger } = ground;
  const sender = outside.sms ?? (await chooseSmsSender(config.sms));
  const inbox = hasInbox(config) ? new Inbox(sender) : undefined;
  const sms = inbox ?? sender;

  const watch = buildWatch(config, ground, sms);
  const vendors = await chooseVendors(config, ground, watch, outside.keys);
  const codes = buildCodes(config, ground, watch, vendors, { sms, keys: outside.keys });
  const accounts = buildAccounts(config, ground, watch, vendors);
  const circles = buildCircles(config, ground);

  const { storage, tokenEnds } = vendors;
  const { dismissals, friendships } = circles;
  const sweeps = [
    () => storage.sweep(),
    () => repos.limits.sweep(),
    () => repos.verification.sweep(),
    () => repos.smsTraffic.sweep(),
    () => repos.securityEvents.sweep(config.auditDays),
    () => dismissals.sweep(),
    () => accounts.closings.sweep(),
    () => friendships.sweep(),
  ];
  const ofAccounts = () => [
    new Sweeper(sweeps, logger),
    new Sweeper([() => repos.captchas.sweep()], logger, CAPTCHA_SWEEP_MS),
    new Sweeper([() => tokenEnds.sweep()], logger, TELLING_MS),
  ];
  const ofImages = () => [
    new Sweeper([() => storage.sweep()], logger),
    new Sweeper([() => storage.removeUnused()], logger, FOLLOWING_MS),
  ];
  const sweepers = config.imagesOnly ? ofImages() : ofAccounts();

  return {
    connections,
    queues,
    inbox,
    jwks: vendors.jwks,
    publicUrlOf: vendors.publicUrlOf,
    uploads: vendors.uploads,
    shownCaptchas: vendors.captchas.shown,
    limiter: watch.limiter,
    /** Of what is downloaded by strangers. */
    meter: downloadMeter(watch.limiter),
    ...codes,
    ...accounts,
    ...circles,
    /** At once, what is otherwise done now and then. */
    sweep: async () => {
      for (const sweeper of sweepers) await sweeper.sweep();
    },
    close: async () => {
      for (const sweeper of sweepers) sweeper.close();
      const behindAnswers = Object.values(background).map((work) => work.finish(FINISH_MS));
      await Promise.all([...behindAnswers, storage.close()]);
      await accounts.hashing.close();
      await connections.close();
    },
  };
}

/** What all others stand on. */
function openGround(config: Config, { databaseUrl, logger }: Outside) {
  const connections = openConnections(databaseUrl, config.database, logger);
  const queues = openQueues();
  return {
    connections,
    queues,
    logger,
    repos: repositories(connections.db, connections.reads),
    /** On connections of their own. */
    counting: repositories(connections.counting),
    transaction: transactions(connections.db, repositories),
    background: {
      noting: new Background(logger, queues.securityEvents),
      telling: new Background(logger, queues.notices),
      ending: new Background(logger, queues.ends),
    },
  };
}

/** Who counts, writes down and tells owners what happens. */
function buildWatch(config: Config, { repos, counting, queues, background, logger }: Ground, sms: SmsSender) {
  const audit = new AuditTrail(counting.securityEvents, counting.limits, logger, background.noting);
  const limitMet: LimitMet = async (use, caller) => {
    notices.limitMet(use, caller);
    await audit.noteLimitMet(use, caller);
  };
  const limiter = new Limiter(counting.limits, config.limits, limitMet, queues);
  const devices = new KnownDevices(repos.securityEvents);
  const noticeParts = { sms, users: repos.users, devices, limiter, audit, background: background.telling, logger };
  const notices: Notices = new Notices(noticeParts, config.notices);
  return { audit, limiter, notices, places: new KnownPlaces(repos.securityEvents) };
}

/** What a vendor does, or this service in its place. */
async function chooseVendors(
  config: Config,
  { repos, queues, transaction, logger }: Ground,
  { limiter }: Watch,
  keys: Keys,
) {
  const messagingParts = { privateKey: keys.messagingJwtKey, keptTokens: repos.messagingTokens };
  const { messaging, jwks } = await chooseMessagingProvider(config.messaging, messagingParts);
  const publicUrlOf = publicUrlFrom(config.http.publicUrl);
  const images = new ImageAccounts({ images: repos.images, users: repos.users, transaction, limiter });
  const storageParts = { images, queues, publicUrlOf };
  const { storage, uploads } = await chooseImageStorage(config.storage, keys.sessionSecrets, storageParts);
  return {
    messaging,
    jwks,
    tokenEnds: new TokenEnds(messaging, repos.messagingTokens, logger),
    publicUrlOf,
    storage,
    uploads,
    captchas: await chooseCaptchas(config.captcha, { kept: repos.captchas, queues, logger }),
  };
}

/** The way to a verified phone. */
function buildCodes(
  config: Config,
  { repos, logger }: Ground,
  { limiter, audit, places }: Watch,
  vendors: Vendors,
  { sms, keys }: { sms: SmsSender; keys: Keys },
) {
  const { users, verification, smsTraffic } = repos;
  const codes = new VerificationCodes(keys.sessionSecrets);
  const captchas = new CaptchaService(vendors.captchas.captchas, limiter);
  const sender = new CodeSender(verification, codes, sms, config.verification);
  const guardParts = { traffic: smsTraffic, limiter, audit, logger };
  const spendGuard = new SpendGuard(guardParts, config.verification.spendGuard);
  const sendingParts = { sender, captchas, limiter, spendGuard, places, audit, logger };
  return {
    captchas,
    sending: new SendCodeService(sendingParts, config.verification),
    verifying: new VerifyCodeService({ verification, codes, users, limiter, places, audit }, config.verification),
  };
}

/** Accounts, from registration to closing, and what belongs to one user. */
function buildAccounts(config: Config, ground: Ground, watch: Watch, { messaging, storage, tokenEnds }: Vendors) {
  const { repos, queues, transaction, logger } = ground;
  const { users, verification } = repos;
  const { audit, limiter, notices } = watch;
  const hashing = new HashingPool(queues.hashing);
  const passwords = new Passwords(config.passwords.bcryptCost, hashing);
  const attempts = new LoginAttempts(limiter, queues, watch.places);
  const ownPassword = new OwnPassword({ users, passwords, attempts, audit });
  const sessionsParts = { sessions: repos.sessions, tokenEnds, limiter, transaction };
  const sessions = new SessionsService(sessionsParts, config.sessions.maxDays);
  const closingParts = { closings: repos.closings, transaction, background: ground.background.ending, logger };
  const closings = new ClosingsService(closingParts);
  const common = { users, verification, ownPassword, tokenEnds, notices, transaction, logger };
  return {
    hashing,
    closings,
    sessions,
    keptSessions: repos.sessions,
    account: new AccountService({ ...common, closings, storage }),
    auth: new AuthService({ ...common, sessions: repos.sessions, passwords, attempts, queues, messaging, audit }),
    exporting: new ExportService(repos.export, sessions, audit, queues),
    profile: new ProfileService({ users, messaging, storage, logger }, config.portraits),
    tokens: new TokensService(users, messaging, storage),
    users: new UsersService(users),
  };
}

/** Who knows whom, and what tells clients of it. */
function buildCircles(config: Config, { repos, connections, queues, transaction, background }: Ground) {
  const { groups, memberships, friendships, blacklist, dismissals } = repos;
  return {
    blacklist: new BlacklistService(blacklist, transaction, config.maxBlacklist),
    friendships: new FriendshipsService(friendships, transaction, config.mostFriendships),
    groups: new GroupsService({ groups, memberships, transaction }, config.groups, config.portraits),
    memberships: new MembershipsService(memberships, transaction, config.groups),
    dismissals: new DismissalsService(dismissals, transaction, background.ending),
    sync: new SyncService(new SyncRepository(connections.syncReads, connections.db), queues),
  };
}
