import type { Server } from 'node:http';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import dotenv from 'dotenv';
import type { Express } from 'express';
import { EmbeddedPostgresError, startEmbeddedPostgres } from '../packages/embedded-database/src';
import { commandLine } from './base/command-line';
import { codeOf } from './base/errors';
import { createLogger } from './base/logger';
import { Metrics } from './composition/metrics';
import { bothOf } from './composition/observers';
import { openTraces } from './composition/open-traces';
import type { Outside } from './composition/open-foundation';
import { ConfigError, readConfig, type Config } from './config/config';
import { awaitDatabase } from './database/await-database';
import { publicAddress } from './database/database-url';
import { migrate, missingAt } from './database/migrations';
import { isOutage } from './database/outage';
import { SERVICE_ROLE } from './database/service-role';
import { readWords } from './features/sending/words-files';
import { answerAndClose, createHttpServer, drain } from './http/http-server';
import { createMetricsServer } from './http/metrics-server';
import { folderMistakes, makeDataDir } from './start/folders';
import { keyMistakes, loadKeys } from './start/keys';
import { addressOf, askForPort, listen, StartError } from './start/listening';
import { packageMistakes } from './start/packages';
import { messageOf, unusable } from './start/remedies';
import { StartLog } from './start/start-log';
import { unknownVariables } from './start/unknown-names';
import { warningsOf } from './start/warnings';

const DRAIN_MS = 10_000;
/**
 * V8 marks its heap when that has doubled. By itself it marks so often that this takes 3 % of the time: with 10,000
 * waiting clients every eleven seconds for a quarter of a second, in which all requests are slow.
 */
const HEAP = '--heap-growing-percent=100';

const startLog = new StartLog(() => process.env.NODE_ENV === 'production');
const say = (line: string) => startLog.say(line);
export const warn = (line: string) => startLog.warn(line);

type Cleanup = () => Promise<void>;

/** A service that is built and not served yet. */
interface Built {
  app: Express;
  services: Parameters<Metrics['watch']>[0];
  announceStop(): void;
  close(): Promise<void>;
  /** Path to try with curl, and the words after it. */
  asking: string;
  /** Paths of pages to open. */
  pages: string[];
  /** Comes before it is served. Returns the admin API, where there is one. */
  prepare?: () => Promise<Admin | undefined>;
}

interface Admin {
  server: Server;
  url: string;
  close(): void;
}

interface Started {
  config: Config;
  outside: Outside;
  /** The address of the metrics, once they are served. */
  metricsUrl: () => string | undefined;
}

type Build = (started: Started) => Promise<Built>;

/** Starts a program of the service, and serves it until a signal ends it. */
export function run(build: Build): void {
  start(build).catch(fail);
}

async function start(build: Build): Promise<void> {
  setFlagsFromString(HEAP);
  const config = settings();
  const cleanups: Cleanup[] = [];
  const stop = stopper(cleanups);
  const hurry = new AbortController();
  stopOnSignals(stop, hurry);
  try {
    await askForPort(config);
    const database = await openDatabase(config, cleanups);
    makeDataDir(config);
    const keys = loadKeys(config);
    const logger = createLogger(config.logLevel);
    const metrics = config.metrics && new Metrics();
    const traces = await openTraces(config.traces, logger);
    if (traces) cleanups.push(() => traces.close());
    const outside = { databaseUrl: database.url, keys, logger, observers: bothOf(metrics, traces) };
    const listening: { metricsUrl?: string | undefined } = {};
    const built = await build({ config, outside, metricsUrl: () => listening.metricsUrl });
    cleanups.push(() => built.close());
    listening.metricsUrl = metrics && (await serveMetrics(metrics, built, config, cleanups));
    const admin = await built.prepare?.();
    cleanups.push(async () => admin?.close());
    const server = await listen(createHttpServer(built.app), config.http);
    cleanups.push(async () => {
      built.announceStop();
      await answerAndClose(server, config.http.leaveSeconds * 1_000, hurry.signal);
      await Promise.all([server, ...(admin ? [admin.server] : [])].map((one) => drain(one, DRAIN_MS)));
    });
    announce(server, config, { ...built, ...listening, database: database.label, admin });
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads all settings. Reports all mistakes together, so that the operator can fix them at once. */
function settings(): Config {
  const { error } = dotenv.config({ quiet: true });
  unknownVariables(process.env).forEach((line) => startLog.warn(line));
  const { config, mistakes } = readConfig(process.env);
  if (error && codeOf(error) !== 'ENOENT')
    mistakes.unshift(`.env: cannot be read (${codeOf(error) ?? 'unknown error'}): let this user read it, or remove it`);
  const words = readWords(config.words);
  const ofMachine = [...folderMistakes(config), ...keyMistakes(config), ...packageMistakes(config)];
  const all = [...mistakes, ...words.mistakes, ...ofMachine];
  if (all.length > 0) throw new ConfigError(all);
  [...words.warnings, ...warningsOf(config)].forEach((line) => startLog.warn(line));
  return config;
}

/** Stops on signals, also during a start. A second signal ends the waiting for other instances to take over. */
function stopOnSignals(stop: Cleanup, hurry: AbortController): void {
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (isStopping) hurry.abort();
      else say('Stopping …');
      isStopping = true;
      stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    });
}

/** Undoes the start in reverse order. Runs only once, however often it is called. */
function stopper(cleanups: Cleanup[]): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  const undo = async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  };
  return () => (stopped ??= undo());
}

interface Database {
  /** Address for the role of the service. */
  url: string;
  /** Address for the owner of the tables. */
  migrationUrl: string;
  label: string;
}

async function openDatabase(config: Config, cleanups: Cleanup[]): Promise<Database> {
  const { databaseUrl: given, migrationUrl } = config.secrets;
  const { waitSeconds, autoMigrate } = config.database;
  const database =
    given === undefined
      ? await embedded(config, cleanups)
      : { url: given, migrationUrl: migrationUrl ?? given, label: publicAddress(given) };
  if (given !== undefined && waitSeconds > 0)
    await awaitDatabase(given, waitSeconds * 1_000, (why) => sayWaiting(given, why)).catch((error: unknown) => {
      throw new StartError(unusable('DATABASE_URL', given, error));
    });
  if (autoMigrate) {
    const name = database.migrationUrl === database.url ? 'DATABASE_URL' : 'DATABASE_MIGRATION_URL';
    const applied = await migrate(database.migrationUrl, { announce: say }).catch((error: unknown) => {
      throw new StartError(unusable(name, database.migrationUrl, error));
    });
    if (applied.length > 0) say(`Applied migrations: ${applied.join(', ')}`);
  }
  await checkLimits(config.database.limitsUrl);
  return database;
}

/** Checks the database of limits. If it is away, the service starts nevertheless, and refuses what has a limit. */
async function checkLimits(url: string | undefined): Promise<void> {
  if (url === undefined) return;
  const missing = await missingAt(url).catch((error: unknown) => {
    if (!isOutage(error)) throw new StartError(unusable('DATABASE_LIMITS_URL', url, error));
    startLog.warn(`${unusable('DATABASE_LIMITS_URL', url, error)}; until then, operations with a limit are refused`);
    return [];
  });
  if (missing.length > 0)
    throw new StartError(
      `DATABASE_LIMITS_URL (${publicAddress(url)}) lacks migrations: run ${commandLine('migrate')} with the address of its owner as DATABASE_URL`,
    );
}

async function embedded({ dataDir }: Config, cleanups: Cleanup[]): Promise<Database> {
  const postgres = await startEmbeddedPostgres({ dataDir: resolve(dataDir), role: SERVICE_ROLE, announce: say });
  cleanups.push(() => postgres.stop());
  const label = `embedded PostgreSQL, kept in ${dataDir} (address in ${dataDir}/database-url)`;
  return { url: postgres.serviceUrl, migrationUrl: postgres.url, label };
}

/** Returns the address of the metrics. */
async function serveMetrics(metrics: Metrics, { services }: Built, config: Config, cleanups: Cleanup[]) {
  if (!config.metrics) return undefined;
  metrics.watch(services);
  const server = await listen(createMetricsServer(metrics, config.metrics.host), {
    ...config.metrics,
    prefix: 'METRICS_',
  });
  cleanups.push(async () => void server.close());
  return `${addressOf(server, config.metrics.host)}/metrics`;
}

interface Announced extends Pick<Built, 'asking' | 'pages'> {
  database: string;
  metricsUrl?: string | undefined;
  admin: Admin | undefined;
}

/** Prints the address, something to try, and the pages. */
function announce(
  server: Server,
  { http, production }: Config,
  { asking, pages, database, metricsUrl, admin }: Announced,
): void {
  const url = addressOf(server, http.host);
  const ready = `User Account Service is ready at ${http.publicUrl ?? url}`;
  const more = [
    `  database  ${database}`,
    `  try       curl ${url}${asking}`,
    ...pages.map((path) => `  open      ${url}${path}`),
    ...(metricsUrl ? [`  metrics   ${metricsUrl}`] : []),
    ...(admin ? [`  admin     ${admin.url}`] : []),
    '  stop      Ctrl-C',
  ];
  if (production)
    startLog.say(ready, { url, database, try: `curl ${url}/readyz`, ...(admin && { adminUrl: admin.url }) });
  else say(['', ready, ...more, ''].join('\n'));
}

function sayWaiting(databaseUrl: string, why: unknown): void {
  say(`Waiting for the database at ${publicAddress(databaseUrl)}, which cannot be used yet: ${messageOf(why)}`);
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) startLog.fail(headlineOf(error.mistakes.length), error.mistakes);
  else if (error instanceof StartError || error instanceof EmbeddedPostgresError)
    startLog.fail(`Cannot start: ${error.message}`);
  else
    startLog.fail(
      `Cannot start, because of an unexpected error: report it (SECURITY.md, CONTRIBUTING.md)\n${
        error instanceof Error ? (error.stack ?? error.message) : 'unknown error'
      }`,
    );
  process.exit(1);
}

function headlineOf(count: number): string {
  const what = count === 1 ? 'one setting is wrong' : `${count} settings are wrong`;
  return `Cannot start: ${what}, in the environment or in .env (.env.example explains each):`;
}
