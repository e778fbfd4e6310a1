import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import dotenv from 'dotenv';
import type { Express } from 'express';
import { buildContainer } from './composition/container';
import { ConfigError, loadConfig, type Config } from './config';
import { awaitDatabase } from './database/await-database';
import { migrate } from './database/migrations';
import { codeOf } from './errors';
import { answerAndClose, createHttpServer, drain } from './http/http-server';
import { EmbeddedPostgresError, startEmbeddedPostgres } from './integrations/embedded-postgres';
import { loadKeys } from './keys';
import { createLogger } from './logger';
import { StartLog } from './start-log';

const DRAIN_MS = 10_000;
const INSUFFICIENT_PRIVILEGE = '42501';
const OWNER_MIGRATES = 'migrations run as the owner of the tables, set DATABASE_MIGRATION_URL, or AUTO_MIGRATE=off';

const startLog = new StartLog(() => process.env.NODE_ENV === 'production');
const say = (line: string) => startLog.say(line);

/** A mistake of the operator, told in one line and without a stack. */
class StartError extends Error {}

type Cleanup = () => Promise<void>;

async function start(): Promise<void> {
  dotenv.config({ quiet: true });
  const config = loadConfig(process.env);
  const cleanups: Cleanup[] = [];
  const stop = stopper(cleanups);
  const hurry = new AbortController();
  stopOnSignals(stop, hurry);
  try {
    const database = await openDatabase(config, cleanups);
    const keys = loadKeys(config);
    const logger = createLogger(config.logLevel);
    const container = await buildContainer(config, { databaseUrl: database.url, keys, logger });
    cleanups.push(() => container.close());
    const server = await listen(container.app, config);
    cleanups.push(async () => {
      container.announceStop();
      await answerAndClose(server, config.http.leaveSeconds * 1_000, hurry.signal);
      await drain(server, DRAIN_MS);
    });
    announce(server, config, database.shown);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Also stops a start that is under way. A second signal ends the waiting for other instances to take over. */
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

/** Undoes what was started, the last first. Runs once, however often it is called. */
function stopper(cleanups: Cleanup[]): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  const undo = async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  };
  return () => (stopped ??= undo());
}

interface Database {
  /** For the role of the service. */
  url: string;
  /** For the owner of the tables. */
  migrationUrl: string;
  shown: string;
}

async function openDatabase(config: Config, cleanups: Cleanup[]): Promise<Database> {
  const { databaseUrl: given, migrationUrl } = config.secrets;
  const { waitSeconds, autoMigrate } = config.database;
  const database =
    given === undefined
      ? await embedded(config, cleanups)
      : { url: given, migrationUrl: migrationUrl ?? given, shown: shownUrl(given) };
  try {
    if (given !== undefined && waitSeconds > 0)
      await awaitDatabase(given, waitSeconds * 1_000, (why) => sayWaiting(given, why));
    if (autoMigrate) {
      const applied = await migrate(database.migrationUrl, { announce: say });
      if (applied.length > 0) say(`Applied migrations: ${applied.join(', ')}`);
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    const remedy = codeOf(error) === INSUFFICIENT_PRIVILEGE ? `: ${OWNER_MIGRATES}` : '';
    throw new StartError(`the database at ${shownUrl(database.url)} cannot be used: ${messageOf(error)}${remedy}`);
  }
  return database;
}

async function embedded({ dataDir }: Config, cleanups: Cleanup[]): Promise<Database> {
  const postgres = await startEmbeddedPostgres({ dataDir: resolve(dataDir), announce: say });
  cleanups.push(() => postgres.stop());
  const shown = `embedded PostgreSQL, kept in ${dataDir} (address in ${dataDir}/database-url)`;
  return { url: postgres.serviceUrl, migrationUrl: postgres.url, shown };
}

function listen(app: Express, { http }: Config): Promise<Server> {
  const server = createHttpServer(app);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, http)));
    server.listen(http.port, http.host, () => resolve(server));
  });
}

function listenError(error: NodeJS.ErrnoException, { host, port }: Config['http']): Error {
  if (error.code === 'EADDRINUSE')
    return new StartError(`port ${port} on ${host} is taken: stop what listens there, or set PORT to another one`);
  if (error.code === 'EACCES') return new StartError(`port ${port} needs more rights: set PORT to 1024 or more`);
  return new StartError(`cannot listen on ${host}:${port}: ${error.message}`);
}

function announce(server: Server, { http, production }: Config, database: string): void {
  const { port } = server.address() as AddressInfo;
  const host = http.host === '0.0.0.0' || http.host === '::' ? 'localhost' : http.host;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const ready = `User Account Service is ready at ${http.publicUrl ?? url}`;
  const more = [
    `  database  ${database}`,
    `  try       curl ${url}/user/send_code -d '{"region": 44, "phone": "7911123456"}'`,
    '  stop      Ctrl-C',
  ];
  if (production) startLog.say(ready, { url, database });
  else say(['', ready, ...more, ''].join('\n'));
}

function shownUrl(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

function sayWaiting(databaseUrl: string, why: unknown): void {
  say(`Waiting for the database at ${shownUrl(databaseUrl)}, which cannot be used yet: ${messageOf(why)}`);
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one: unknown) => messageOf(one)).join(', ');
  return error instanceof Error ? error.message : 'unknown error';
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) error.mistakes.forEach((mistake) => startLog.fail(mistake));
  else if (error instanceof StartError || error instanceof EmbeddedPostgresError)
    startLog.fail(`Cannot start: ${error.message}`);
  else startLog.fail(error instanceof Error ? (error.stack ?? error.message) : 'unknown error');
  process.exit(1);
}

start().catch(fail);
