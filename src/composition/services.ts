import type { Logger } from 'pino';
import type { Caller } from '../base/caller';
import { Tally } from '../base/tally';
import type { Config } from '../config/config';
import { openConnections } from '../database/connections';
import { isDistributed } from '../database/statement';
import { transactions } from '../database/transaction';
import { AccountService } from '../features/account/account-service';
import { ClosingsService } from '../features/account/closings-service';
import { ExportRepository } from '../features/account/export-repository';
import { ExportService } from '../features/account/export-service';
import { NumberClaimsService } from '../features/account/number-claims-service';
import { SuspensionService } from '../features/account/suspension-service';
import { AuditTrail } from '../features/audit/audit-trail';
import { KnownPlaces } from '../features/audit/known-places';
import { AuthService } from '../features/auth/auth-service';
import { HashingPool } from '../features/auth/hashing-pool';
import { LoginAttempts } from '../features/auth/login-attempts';
import { OwnPassword } from '../features/auth/own-password';
import { Passwords } from '../features/auth/passwords';
import { TokenLogins } from '../features/auth/token-logins';
import { BlacklistService } from '../features/blacklist/blacklist-service';
import { EventGatherer } from '../features/events/event-gatherer';
import { FriendshipsService } from '../features/friendships/friendships-service';
import { DismissalsService } from '../features/groups/dismissals-service';
import { GroupsService } from '../features/groups/groups-service';
import { MembershipsService } from '../features/groups/memberships-service';
import { ImageAccounts } from '../features/images/image-accounts';
import { Limiter, type LimitMet } from '../features/limits/limiter';
import { LimitsRepository } from '../features/limits/limits-repository';
import { MessagingUpdates } from '../features/messaging/messaging-updates';
import { OriginalsRepository } from '../features/messaging/originals-repository';
import { KnownDevices } from '../features/notices/known-devices';
import { Notices } from '../features/notices/notices';
import type { Phone } from '../features/phones/phone-number';
import { ProfileService } from '../features/profile/profile-service';
import { Routes } from '../features/sending/routes';
import { Sending } from '../features/sending/sending';
import { TestNumbers } from '../features/sending/test-numbers';
import { Words } from '../features/sending/words';
import { SessionsService } from '../features/sessions/sessions-service';
import { SpendGuard } from '../features/spend-guard/spend-guard';
import { HorizonAge } from '../features/sync/horizon-age';
import { LiveSyncs } from '../features/sync/live-syncs';
import { SyncService } from '../features/sync/sync-service';
import { AudienceTokens } from '../features/tokens/audience-tokens';
import { TokensService } from '../features/tokens/tokens-service';
import { UsersService } from '../features/users/users-service';
import { CaptchaService } from '../features/verification/captcha-service';
import { CodeSender } from '../features/verification/code-sender';
import { receiptsRouter } from '../features/verification/receipts-router';
import { SendCodeService } from '../features/verification/send-code-service';
import { VerificationCodes } from '../features/verification/verification-code';
import { VerifyCodeService } from '../features/verification/verify-code-service';
import { Webhooks } from '../features/webhooks/webhooks';
import { publicUrlFrom } from '../http/public-url';
import { chooseCaptchas } from '../integrations/captcha/choose-captchas';
import { chooseMessagingProvider } from '../integrations/messaging/choose-messaging-provider';
import { chooseSenders } from '../integrations/senders/choose-senders';
import { CountedSender } from '../integrations/senders/counted-sender';
import { Inbox } from '../integrations/senders/inbox';
import type { SenderName } from '../integrations/senders/kinds';
import { receiptReaders } from '../integrations/senders/receipts';
import type { Sender } from '../integrations/senders/sender';
import { chooseImageStorage } from '../integrations/storage/choose-image-storage';
import { WebhookCaller } from '../integrations/webhook-call';
import { Background } from '../load/background';
import { openQueues } from '../load/queues';
import { Sweeper } from '../load/sweeper';
import { withTimeout } from '../load/timeout';
import type { Keys } from '../start/keys';
import type { Observers } from './observers';
import { downloadMeter, hasInbox } from './pages';
import { repositories } from './repositories';

/** Longest wait, at the stop, for work after answers. */
const FINISH_MS = 4_000;

/** Longest wait, at the stop, for others who are being told. */
const TELL_MS = 1_000;

/** Captchas are large, and anyone can request many. */
const CAPTCHA_SWEEP_MS = 60_000;

/** Pause between removals of due images, in a process that only stores images. */
const REMOVE_UNUSED_MS = 1_000;

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

export type Services = Awaited<ReturnType<typeof buildServices>>;
type Base = ReturnType<typeof openBase>;
type Watch = ReturnType<typeof buildWatch>;
type Vendors = Awaited<ReturnType<typeof chooseVendors>>;

/** Builds the service without HTTP. The container serves it; a command line or a worker could use it too. */
export async function buildServices(config: Config, outside: Outside) {
  const base = openBase(config, outside);
  const { connections, queues, background, repos, logger } = base;
  await connections.learn();
  const { inbox, smsCounts, credits, ...ways } = await openWays(config, base, outside);

  const words = new Words(config.words);
  const watch = buildWatch(config, base, { ...ways, words });
  const vendors = await chooseVendors(config, base, watch, outside.keys);
  const codes = buildCodes(config, base, watch, vendors, { ways, words });
  const accounts = buildAccounts(config, base, watch, vendors);
  const circles = buildCircles(config, base);

  const { storage, messagingUpdates } = vendors;
  const { dismissals, friendships } = circles;
  const webhooks = new Webhooks(
    repos.webhooks,
    connections.db,
    new WebhookCaller(config.webhookNetworks, base.observeCall, base.vendorTimeoutMs),
    logger,
  );
  const gatherer = new EventGatherer({
    events: repos.events,
    horizons: connections.horizons,
    isDistributed: () => isDistributed(connections.db),
    logger,
  });
  const horizonAge = new HorizonAge(connections.syncReads, connections.horizons);
  const sweeps = {
    images: () => storage.sweep(),
    limits: () => base.limits.sweep(),
    codes: () => repos.verification.sweep(),
    traffic: () => repos.smsTraffic.sweep(),
    events: () => repos.securityEvents.sweep(config.auditDays),
    dismissals: () => dismissals.sweep(),
    closings: () => accounts.closings.sweep(),
    claims: () => repos.numberClaims.sweep(),
    requests: () => friendships.sweep(),
    told: () => repos.events.sweep(config.eventDays),
  };
  const ofAccounts = () => [
    new Sweeper(sweeps, logger),
    new Sweeper({ captchas: () => repos.captchas.sweep() }, logger, CAPTCHA_SWEEP_MS),
  ];
  const ofImages = () => [
    new Sweeper({ images: () => storage.sweep() }, logger),
    new Sweeper({ unused: () => storage.removeUnused() }, logger, REMOVE_UNUSED_MS),
  ];
  const sweepers = config.imagesOnly ? ofImages() : ofAccounts();

  return {
    connections,
    queues,
    inbox,
    counted: {
      limits: [watch.limiter.met],
      sms: smsCounts,
      alarms: [codes.spendGuard.alarms],
      captchas: [codes.captchas.counts],
      uploads: [vendors.uploadCounts],
      missingEvents: [watch.audit.missing],
      told: [messagingUpdates.counts, webhooks.counts],
      sweeps: sweepers.map(({ rounds }) => rounds),
    },
    /** Figures that only the database knows. */
    asked: {
      codes: () => repos.smsTraffic.ofDay(),
      horizonAge: () => horizonAge.seconds(),
      webhooks: () => repos.webhooks.standing(),
      messaging: () => messagingUpdates.secondsWaiting(),
    },
    /** For the commands of operators. */
    operators: {
      userIdOf: (phone: string) => repos.users.idByPhone(phone),
      claimsOf: async (userId: string) => {
        const account = await repos.users.account(userId);
        return account ? repos.numberClaims.ofAccount(account) : [];
      },
      trafficOf: (phone: Phone) => repos.smsTraffic.ofRegion(phone),
      smsCredits: credits,
      routes: ways.routes,
      lastCode: (phone: Phone) => repos.ways.lastCode(phone.number),
      clearLimit: (key: string) => watch.limiter.clearBucket(key),
      isMember: async (groupId: string, userId: string) =>
        (await repos.memberships.roles(groupId, [userId])).has(userId),
      note: (detail: string, userId: string | undefined, caller: Caller) =>
        repos.securityEvents.add({ event: 'operator', detail, ...(userId && { userId }) }, caller),
    },
    jwks: vendors.jwks,
    messagingUpdates,
    webhooks,
    gatherer,
    webhookList: repos.webhooks,
    messagingCopy: repos.messagingCopy,
    publicUrlOf: vendors.publicUrlOf,
    uploads: vendors.uploads,
    shownCaptchas: vendors.captchas.shown,
    receipts: receiptsRouter(receiptReaders(config.sms.senders), repos.verification, watch.limiter),
    limiter: watch.limiter,
    /** Meter of downloads without a session. */
    meter: downloadMeter(watch.limiter),
    ...codes,
    ...accounts,
    ...circles,
    /** Runs the periodic clean-ups now. */
    sweep: async () => {
      for (const sweeper of sweepers) await sweeper.sweep();
    },
    close: async () => {
      circles.lives.close();
      gatherer.close();
      // Another instance tells again of events that are cut off here.
      await withTimeout(Promise.all([messagingUpdates.close(), webhooks.close()]), TELL_MS).catch(() => undefined);
      for (const sweeper of sweepers) sweeper.close();
      const finished = Object.values(background).map((work) => work.finish(FINISH_MS));
      await Promise.all([...finished, storage.close()]);
      await accounts.hashing.close();
      await connections.close();
    },
  };
}

/** Opens what all other parts use. */
function openBase(config: Config, { databaseUrl, keys, logger, observers, patience, vendorTimeoutMs }: Outside) {
  const connections = openConnections(databaseUrl, { ...config.database, patience }, logger, observers?.statement);
  const queues = openQueues(patience);
  return {
    connections,
    queues,
    logger,
    patience,
    vendorTimeoutMs,
    observeCall: observers?.call,
    repos: repositories(connections.db, connections.reads),
    /** Repositories on separate connections. */
    counting: repositories(connections.counting),
    limits: new LimitsRepository(connections.limits),
    codes: new VerificationCodes(keys.sessionSecrets),
    transaction: transactions(connections.db, repositories),
    background: {
      securityEvents: new Background(logger, queues.securityEvents),
      notices: new Background(logger, queues.notices),
      ends: new Background(logger, queues.ends),
    },
  };
}

/** Opens the senders, and the routes that lead to them. */
async function openWays(config: Config, { repos, observeCall }: Base, { sms, vendorTimeoutMs }: Outside) {
  const chosen = await chooseSenders(config.sms.senders, { observe: observeCall, timeoutMs: vendorTimeoutMs });
  if (sms) for (const name of chosen.keys()) chosen.set(name, sms);
  const counted = [...chosen].map(([name, sender]) => [name, new CountedSender(sender, name)] as const);
  const inbox = hasInbox(config) ? new Inbox() : undefined;
  const senders = new Map<SenderName, Sender>(counted.map(([name, sender]) => [name, inbox?.of(sender) ?? sender]));
  return {
    inbox,
    smsCounts: counted.map(([, { counts }]) => counts),
    credits: async () => {
      const found = [...chosen].map(async ([name, sender]) => {
        const credit = await sender.credit?.();
        return credit ? [{ name, ...credit }] : [];
      });
      return (await Promise.all(found)).flat();
    },
    routes: new Routes(config.sms.routes, (country) => repos.ways.traffic(country)),
    sending: new Sending(senders),
  };
}

type Ways = Pick<Awaited<ReturnType<typeof openWays>>, 'routes' | 'sending'>;

/** Builds limits, the spend guard, the audit trail and notices to owners. */
function buildWatch(
  config: Config,
  { repos, counting, limits, queues, background, logger, patience }: Base,
  messages: Ways & { words: Words },
) {
  const audit = new AuditTrail(counting.securityEvents, limits, logger, background.securityEvents, patience);
  const limitMet: LimitMet = async (use, caller) => {
    notices.limitMet(use, caller);
    await audit.noteLimitMet(use, caller);
  };
  const limiter = new Limiter(limits, config.limits, limitMet, queues);
  const devices = new KnownDevices(repos.securityEvents);
  const { users } = repos;
  const noticeParts = { ...messages, users, devices, limiter, audit, background: background.notices, logger };
  const notices: Notices = new Notices(noticeParts, config.notices);
  const guardParts = { traffic: repos.smsTraffic, limiter, audit, logger };
  const spendGuard = new SpendGuard(guardParts, config.verification.spendGuard);
  return { audit, limiter, notices, spendGuard, places: new KnownPlaces(repos.securityEvents, patience) };
}

/** Builds what a vendor does, or this service instead. */
async function chooseVendors(
  config: Config,
  { connections, repos, queues, transaction, logger, observeCall: observe, vendorTimeoutMs: timeoutMs }: Base,
  { limiter, spendGuard }: Watch,
  keys: Keys,
) {
  const originals = new OriginalsRepository(connections.db, repos.users);
  const messagingParts = {
    privateKey: keys.messagingJwtKey,
    keptTokens: repos.messagingTokens,
    originals,
    timeoutMs,
    observe,
  };
  const { messaging, follower, signer, jwks } = await chooseMessagingProvider(config.messaging, messagingParts);
  const publicUrlOf = publicUrlFrom(config.http.publicUrl);
  const images = new ImageAccounts({ images: repos.images, users: repos.users, transaction, limiter });
  const uploadCounts = new Tally();
  const storageParts = { images, queues, publicUrlOf, counts: uploadCounts };
  const challenges = { secrets: keys.sessionSecrets, isAlarmed: () => spendGuard.isAlarmed() };
  const { storage, uploads } = await chooseImageStorage(config.storage, keys.sessionSecrets, storageParts);
  return {
    messaging,
    audienceTokens: new AudienceTokens(signer, config.messaging.audiences),
    jwks,
    messagingUpdates: new MessagingUpdates(follower, repos.messagingChanges, repos.messagingCopy, logger),
    publicUrlOf,
    storage,
    uploads,
    uploadCounts,
    captchas: await chooseCaptchas(config.captcha, {
      kept: repos.captchas,
      challenges,
      queues,
      logger,
      observe,
      timeoutMs,
    }),
  };
}

/** Builds the verification of phones. */
function buildCodes(
  config: Config,
  { repos, codes, logger }: Base,
  { limiter, audit, places, spendGuard }: Watch,
  vendors: Vendors,
  { ways, words }: { ways: Ways; words: Words },
) {
  const { users, verification } = repos;
  const captchas = new CaptchaService(vendors.captchas.captchas, limiter);
  const sender = new CodeSender({ verification, ways: repos.ways, codes, words, ...ways }, config.verification);
  const testNumbers = new TestNumbers(config.secrets.testNumbers, users);
  const sendingParts = { sender, testNumbers, captchas, limiter, spendGuard, places, audit, logger };
  const verifyingParts = { verification, codes, sending: ways.sending, users, limiter, places, audit };
  return {
    words,
    testNumbers,
    captchas,
    spendGuard,
    sending: new SendCodeService(sendingParts, config.verification),
    verifying: new VerifyCodeService(verifyingParts, config.verification),
  };
}

/** Builds accounts, from registration to closing, and everything that belongs to one user. */
function buildAccounts(config: Config, base: Base, watch: Watch, vendors: Vendors) {
  const { messaging, storage } = vendors;
  const { repos, codes, queues, transaction, logger } = base;
  const { users, verification } = repos;
  const { audit, limiter, notices } = watch;
  const hashing = new HashingPool(queues.hashing);
  const passwords = new Passwords(config.passwords.bcryptCost, hashing);
  const attempts = new LoginAttempts(limiter, queues, watch.places);
  const ownPassword = new OwnPassword({ users, passwords, attempts, audit });
  const sessionsParts = { sessions: repos.sessions, limiter, transaction };
  const sessions = new SessionsService(sessionsParts, config.sessions.maxDays);
  const closingParts = { closings: repos.closings, transaction, background: base.background.ends, logger };
  const closings = new ClosingsService(closingParts);
  const common = { users, verification, ownPassword, notices, transaction, logger };
  const account = new AccountService({ ...common, closings, storage });
  const { tokenTtlSeconds } = config.verification;
  const loginParts = { users, verification, codes, attempts, audit, notices, transaction, queues };
  return {
    hashing,
    closings,
    sessions,
    keptSessions: repos.sessions,
    account,
    numberClaims: new NumberClaimsService(
      { ...common, claims: repos.numberClaims, account, queues },
      { recycleDays: config.recycleDays, tokenTtlSeconds },
    ),
    auth: new AuthService({ ...common, sessions: repos.sessions, passwords, attempts, queues, messaging, audit }),
    tokenLogins: new TokenLogins(loginParts, config.tokenLogins),
    exporting: new ExportService(
      new ExportRepository(base.connections.reading),
      repos.numberClaims,
      sessions,
      audit,
      queues,
    ),
    suspension: new SuspensionService(transaction),
    profile: new ProfileService({ users, images: repos.images, storage, logger }, config.portraits),
    tokens: new TokensService(users, messaging, storage, vendors.audienceTokens),
    users: new UsersService(users),
  };
}

/** Builds friendships, groups and blacklists, and their synchronisation. */
function buildCircles(config: Config, { repos, connections, queues, transaction, background, logger }: Base) {
  const { groups, memberships, friendships, blacklist, dismissals } = repos;
  const { reading, horizons } = connections;
  const lives = new LiveSyncs(reading.readAt, queues.liveLooks, logger);
  return {
    lives,
    blacklist: new BlacklistService(blacklist, transaction, config.maxBlacklist),
    friendships: new FriendshipsService(friendships, transaction, config.mostFriendships),
    groups: new GroupsService({ groups, memberships, transaction, reading }, config.groups, config.portraits),
    memberships: new MembershipsService(memberships, transaction, config.groups),
    dismissals: new DismissalsService(dismissals, transaction, background.ends),
    sync: new SyncService(reading, horizons, queues, lives),
  };
}
