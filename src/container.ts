import { hkdfSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Router, type Express } from 'express';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { createApp } from './app';
import type { Config } from './config';
import { ConnectionWatch } from './database/connection-watch';
import { connectionOptions, knexOn, openPool } from './database/pool';
import { DatabaseProbe } from './database/probe';
import { Reads } from './database/reads';
import { AuditTrail } from './features/audit/audit-trail';
import { authRouter } from './features/auth/auth-router';
import { AuthService } from './features/auth/auth-service';
import { HashingPool } from './features/auth/hashing-pool';
import { LoginAttempts } from './features/auth/login-attempts';
import { Passwords } from './features/auth/passwords';
import { blacklistRouter } from './features/blacklist/blacklist-router';
import { BlacklistService } from './features/blacklist/blacklist-service';
import { groupsRouter } from './features/groups/groups-router';
import { GroupsService } from './features/groups/groups-service';
import { Limiter } from './features/limits/limiter';
import { limitTable } from './features/limits/limits';
import { profileRouter } from './features/profile/profile-router';
import { ProfileService } from './features/profile/profile-service';
import { sessionsRouter } from './features/sessions/sessions-router';
import { SessionsService } from './features/sessions/sessions-service';
import { SpendGuard } from './features/spend-guard/spend-guard';
import { SyncRepository } from './features/sync/sync-repository';
import { syncRouter } from './features/sync/sync-router';
import { SyncService } from './features/sync/sync-service';
import { tokensRouter } from './features/tokens/tokens-router';
import { TokensService } from './features/tokens/tokens-service';
import { AccountsRepository } from './features/users/accounts-repository';
import { ProfilesRepository } from './features/users/profiles-repository';
import { usersRouter } from './features/users/users-router';
import { UsersService } from './features/users/users-service';
import { captchaImageRouter, captchaRouter } from './features/verification/captcha-router';
import { CaptchaService } from './features/verification/captcha-service';
import { CodeSender } from './features/verification/code-sender';
import { SendCodeService } from './features/verification/send-code-service';
import { VerificationCodes } from './features/verification/verification-code';
import { verificationRouter } from './features/verification/verification-router';
import { VerifyCodeService } from './features/verification/verify-code-service';
import { body, wellFormedBody } from './http/body';
import { Deadline } from './http/deadline';
import { errorHandler } from './http/error-handler';
import { Health, healthRouter } from './http/health-router';
import { get, type Access } from './http/operation';
import { publicUrlFrom } from './http/public-url';
import { SessionReader } from './http/session-reader';
import { cookieNameFor, Sessions, userIdOf } from './http/session';
import type { KeptTokens } from './integrations/messaging/rongcloud-messaging-provider';
import type { MessagingProvider } from './integrations/messaging/messaging-provider';
import type { SmsSender } from './integrations/sms/sms-sender';
import type { ImageStorage } from './integrations/storage/image-storage';
import { KeyedTurns } from './keyed-turns';
import type { Keys } from './local-keys';
import { withinPatience } from './patience';
import { repositories, transactions } from './repositories';
import { Sweeper } from './sweeper';

/** For small reads, each of which takes a fraction of a millisecond. */
const SHARED_CONNECTIONS = 2;

/** More than there are processors: at their lower priority they then still get a fair part of a busy machine. */
const HASHING_THREADS = Math.min(8, 2 * availableParallelism());
/** For each thread; at the default cost, what is hashed in about three seconds. */
const HASHES_WAITING = 25;

const CAPTCHA_SWEEP_MS = 60_000;

/** Of one user: with a row that somebody has locked, each keeps a connection for a second. */
const WRITES_AT_ONCE = 2;
const WRITES_WAITING = 100;

const FAREWELL_MS = 2_000;

export interface Outside {
  databaseUrl: string;
  keys: Keys;
  logger: Logger;
  /** Instead of the configured sender. */
  sms?: SmsSender;
  /** Have express-session read every session, not only those to be renewed. */
  sessionsByStore?: boolean;
}

export interface Container {
  app: Express;
  db: Knex;
  /** From now on it is not ready, so that whoever sends requests here sends them elsewhere. */
  leave(): void;
  close(): Promise<void>;
}

/** The composition root: every part is made here, top to bottom. */
export async function buildContainer(config: Config, outside: Outside): Promise<Container> {
  const { keys, logger } = outside;
  const warn = (message: string, cause: unknown) => logger.warn({ err: cause }, message);
  const tell = (message: string, details: object) => logger.warn(details, message);

  const { poolMax, prepare } = config.database;
  const watch = new ConnectionWatch({
    away: (cause) => logger.error({ err: cause }, 'the database is away'),
    back: (awayMs) => logger.warn({ awayMs: Math.round(awayMs) }, 'the database is back'),
  });
  const probe = new DatabaseProbe(outside.databaseUrl, watch);
  const pool = openPool(outside.databaseUrl, poolMax, watch);
  const db = knexOn(pool, prepare);
  // A locked row of an account must not keep limits from being counted, nor the other way round.
  const countingPool = openPool(outside.databaseUrl, Math.ceil(poolMax / 2), watch);
  const counting = repositories(knexOn(countingPool, prepare));
  const shared = { ...connectionOptions(outside.databaseUrl), watch };
  const reads = new Reads(shared, SHARED_CONNECTIONS, prepare);
  const repos = repositories(db);
  const profiles = new ProfilesRepository(reads, db);
  const transaction = transactions(db);

  const sms = outside.sms ?? (await smsSender(config));
  const messaging = await messagingProvider(config, keys, repos.messagingTokens);
  const storage = await imageStorage(config, keys);

  const limits = limitTable(config.limits);
  const audit = new AuditTrail(counting.securityEvents, counting.limits, warn);
  const limiter = new Limiter(counting.limits, audit, warn);
  const hashing = new HashingPool(HASHING_THREADS, HASHES_WAITING * HASHING_THREADS);
  const passwords = new Passwords(config.passwords.bcryptCost, hashing);
  const attempts = new LoginAttempts(limiter, limits);
  const codes = new VerificationCodes(keys.sessionSecrets);

  const { verification, users, captchas: captchaRows } = repos;
  const captchas = new CaptchaService(captchaRows, limiter, limits);
  const sender = new CodeSender(verification, codes, sms, { ...config.verification, text: config.sms.text });
  const guardParts = { traffic: repos.smsTraffic, users, limiter, limits, audit, tell };
  const spendGuard = new SpendGuard(guardParts, config.verification.spendGuard);
  const sending = new SendCodeService(
    { sender, captchas, limiter, limits, spendGuard, audit, tell },
    config.verification,
  );
  const verifying = new VerifyCodeService({ verification, codes, users, limiter, limits, audit }, config.verification);
  const userTurns = new KeyedTurns(WRITES_AT_ONCE, WRITES_WAITING);
  const auth = new AuthService({
    users,
    accounts: new AccountsRepository(reads, db),
    sessions: repos.sessions,
    verification,
    passwords,
    attempts,
    messaging: messaging.provider,
    audit,
    transaction,
    turns: userTurns,
  });
  const profile = new ProfileService(users, messaging.provider, warn);
  const tokens = new TokensService(profiles, messaging.provider, storage.provider);
  // Sync reads more than one row at a time, of tables that others write to: nothing else should wait behind it.
  const syncReads = new Reads(shared, SHARED_CONNECTIONS, prepare);
  const sync = new SyncService(new SyncRepository(syncReads, db));

  const cookieName = cookieNameFor(config.production);
  const sessions = new Sessions(
    pool,
    outside.sessionsByStore ? undefined : new SessionReader(reads, db, cookieName, keys.sessionSecrets),
    { secrets: keys.sessionSecrets, production: config.production, ...config.sessions },
    warn,
  );
  const ownSessions = new SessionsService(repos.sessions, transaction, config.sessions.maxDays);
  const publicUrlOf = publicUrlFrom(config.http.publicUrl);
  const access: Access = {
    anyone: body,
    visitor: [...body, wellFormedBody, sessions.load],
    signedIn: [...body, sessions.signedIn],
    signedInWithBody: [...body, wellFormedBody, sessions.signedIn],
    inTurn: (handler) => (req, res) => userTurns.take(userIdOf(req), async () => handler(req, res)),
  };

  const health = new Health(probe);
  const onError = errorHandler(logger);
  const deadline = new Deadline(onError);
  const routers = {
    health: healthRouter(health),
    jwks: messaging.jwks,
    captchaImages: captchaImageRouter(captchas),
    uploads: storage.router,
    user: [
      verificationRouter(sending, verifying, access),
      captchaRouter(captchas, publicUrlOf, access),
      authRouter({ auth, ownSessions, sessions, publicUrlOf }, access),
      sessionsRouter(ownSessions, access),
      profileRouter(profile, access),
      blacklistRouter(new BlacklistService(repos.blacklist), access),
      groupsRouter(new GroupsService(repos.groups), access),
      syncRouter(sync, access),
      tokensRouter(tokens, publicUrlOf, access),
      // Last: it takes every path that is left.
      usersRouter(new UsersService(profiles, limiter, limits), access),
    ],
  };
  const app = createApp({ routers, deadline, onError, logger }, config.http);

  // Captchas are large, and anybody can ask for many.
  const captchaSweeper = new Sweeper([() => repos.captchas.sweep()], warn, CAPTCHA_SWEEP_MS);
  const sweeper = new Sweeper(
    [
      () => storage.provider.sweep(),
      () => repos.limits.sweep(),
      () => repos.verification.sweep(),
      () => repos.smsTraffic.sweep(),
      () => repos.securityEvents.sweep(config.auditDays),
    ],
    warn,
  );
  return {
    app,
    db,
    leave: () => health.leave(),
    close: async () => {
      captchaSweeper.close();
      sweeper.close();
      sessions.close();
      watch.close();
      deadline.close();
      await hashing.close();
      const closing = [probe.close(), reads.close(), syncReads.close(), countingPool.end(), pool.end()];
      await Promise.all(closing.map(farewell));
    },
  };
}

/** A database that has frozen keeps nobody from stopping. */
async function farewell(ending: Promise<void>): Promise<void> {
  await withinPatience(ending, FAREWELL_MS).catch(() => undefined);
}

/** Vendors' code is loaded only where it is used: it is large, and slow to load. */
async function smsSender({ sms, secrets, dataDir }: Config): Promise<SmsSender> {
  if (sms.provider === 'twilio') {
    const { TwilioSmsSender } = await import('./integrations/sms/twilio-sms-sender');
    return new TwilioSmsSender({
      accountSid: secrets.twilioAccountSid,
      authToken: secrets.twilioAuthToken,
      from: sms.twilioFrom,
      messagingServiceSid: sms.twilioMessagingServiceSid,
      apiUrl: sms.twilioApiUrl,
    });
  }
  if (sms.provider === 'file') {
    const { FileSmsSender } = await import('./integrations/sms/file-sms-sender');
    return new FileSmsSender(sms.file ?? join(dataDir, 'sms.ndjson'));
  }
  const { ConsoleSmsSender } = await import('./integrations/sms/console-sms-sender');
  return new ConsoleSmsSender();
}

async function messagingProvider(
  { messaging, secrets, http }: Config,
  keys: Keys,
  keptTokens: KeptTokens,
): Promise<{ provider: MessagingProvider; jwks: Router }> {
  const jwks = Router();
  if (messaging.provider === 'rongcloud') {
    const { RongCloudMessagingProvider } = await import('./integrations/messaging/rongcloud-messaging-provider');
    const provider = new RongCloudMessagingProvider({
      appKey: secrets.rongcloudAppKey,
      appSecret: secrets.rongcloudAppSecret,
      apiUrl: messaging.rongcloudApiUrl,
      keptTokens,
    });
    return { provider, jwks };
  }
  const { JwtMessagingProvider } = await import('./integrations/messaging/jwt-messaging-provider');
  const provider = new JwtMessagingProvider({
    privateKey: keys.messagingJwtKey,
    ttlSeconds: messaging.tokenTtlSeconds,
    issuer: http.publicUrl,
  });
  get(jwks, '/jwks.json', (_req, res) => {
    res.set('Cache-Control', 'public, max-age=300').json(provider.jwks());
  });
  return { provider, jwks };
}

async function imageStorage(
  { storage, secrets, dataDir }: Config,
  keys: Keys,
): Promise<{ provider: ImageStorage; router: Router }> {
  if (storage.provider === 'qiniu') {
    const { QiniuImageStorage } = await import('./integrations/storage/qiniu-image-storage');
    const { qiniuUploadRouter } = await import('./integrations/storage/qiniu-upload-router');
    const provider = new QiniuImageStorage({
      accessKey: secrets.qiniuAccessKey,
      secretKey: secrets.qiniuSecretKey,
      bucket: storage.qiniuBucket ?? '',
      domain: storage.qiniuDomain ?? '',
      maxBytes: storage.uploadMaxBytes,
    });
    return { provider, router: qiniuUploadRouter(storage.qiniuUploadUrl) };
  }
  const { LocalImageStorage } = await import('./integrations/storage/local-image-storage');
  const { localImageRouter } = await import('./integrations/storage/local-image-router');
  const provider = new LocalImageStorage({
    directory: join(dataDir, 'uploads'),
    secret: uploadSecret(keys.sessionSecrets),
    maxBytes: storage.uploadMaxBytes,
  });
  return { provider, router: localImageRouter(provider) };
}

function uploadSecret([first = '']: string[]): string {
  return Buffer.from(hkdfSync('sha256', first, '', 'upload tokens', 32)).toString('hex');
}
