import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server as SocketServer,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import pino from 'pino';
import request from 'supertest';
import { buildAdminApi } from '../../src/admin/admin-api';
import { createLogger } from '../../src/base/logger';
import { buildImagesContainer } from '../../src/composition/images-container';
import { buildContainer } from '../../src/composition/container';
import type { Metrics } from '../../src/composition/metrics';
import { bothOf } from '../../src/composition/observers';
import { openTraces } from '../../src/composition/open-traces';
import { loadConfig } from '../../src/config/config';
import { sessionCookieName } from '../../src/features/sessions/session-cookies';
import { createHttpServer } from '../../src/http/http-server';
import type { Operation } from '../../src/http/operation';
import type { Message, Sender } from '../../src/integrations/senders/sender';
import { loadKeys } from '../../src/start/keys';
import { asDescribed } from './as-described';
import { ADMIN, asDocumented, PUBLIC } from './as-documented';
import { cloneDatabase, ownerUrlOf, type TestDatabase } from './database';
import { OUTPUT } from './paths';
import { PATIENCE, PATIENT_MS } from './patience';
import { testPool } from './pool';
import { rememberSecret } from './secrets';

/** Keeps messages instead of sending them. `before` imitates a provider that takes time or fails. */
export class KeptSms implements Sender {
  readonly sent: Message[] = [];
  before: (sms: Message) => Promise<void> = () => Promise.resolve();

  async send(sms: Message): Promise<void> {
    if (sms.code !== undefined) rememberSecret(sms.code);
    await this.before(sms);
    this.sent.push(sms);
  }

  /** Returns the newest code sent to a phone. */
  codeFor(phone: string): string {
    const code = this.sent.findLast((sms) => sms.to === phone && sms.code !== undefined)?.code;
    if (code === undefined) throw new Error(`no code was sent to ${phone}`);
    return code;
  }
}

export interface TestApp {
  url: string;
  /** Address of the admin API, which a test asks for with ADMIN_PORT=0. */
  adminUrl: string;
  /** A connection as the owner of the tables, with which a test prepares and inspects rows. */
  db: Knex;
  ownerUrl: string;
  /** The service's own connection, with only the rights that it needs. */
  serviceDb: Knex;
  databaseUrl: string;
  sms: KeptSms;
  /** The token that opens /dev/inbox. */
  inboxToken: string;
  /** Returns the signed cookie of a session. */
  sessionCookie(sid: string): string;
  dataDir: string;
  /** Returns the log so far. */
  logged: () => Record<string, unknown>[];
  /** A client without cookies. */
  api: ReturnType<typeof request>;
  /** A client that keeps its cookies. */
  agent(): ReturnType<typeof request.agent>;
  /** Awaited by each request after its session was found, and before the operation runs. */
  beforeOperation: (path: string) => Promise<void>;
  /** Number of connections that take no more bytes until their client reads. */
  fullConnections(): number;
  /** Returns the path of a socket that answers too. It holds 200 kB, and a socket of TCP several megabytes. */
  smallSocket(): Promise<string>;
  /** Number of syncs that wait for a change. */
  liveSyncs(): number;
  announceStop(): void;
  /** Deletes expired rows. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export interface AppOptions {
  /** Another app's database, for a second instance. */
  databaseUrl?: string;
  dataDir?: string;
  /** Uses the configured sender. */
  realSms?: boolean;
  /** Time of an exchange with a sender, RongCloud or a webhook: short where a test waits for its end. */
  vendorTimeoutMs?: number;
  /** Time of a request: short where a test waits for its end. */
  deadlineMs?: number;
  /** Factor of the time limits of database and queues: 1 in a test about them. Others must not meet them on a busy machine. */
  patience?: number;
  /** Told of all that happens. */
  metrics?: Metrics;
}

const OWNER_CONNECTIONS = 10;

/** Far above the time limits of the database, so that a test sees whether these end a request. */
const DEADLINE_MS = 120_000;

export type Env = Record<string, string>;

/** Starts the service as it is deployed, on its own port and database. Only hashing is cheaper. */
export async function startApp(env: Env = {}, options: AppOptions = {}): Promise<TestApp> {
  const database = options.databaseUrl === undefined ? await cloneDatabase() : undefined;
  const databaseUrl = options.databaseUrl ?? database?.serviceUrl ?? '';
  const ownerUrl = ownerUrlOf(databaseUrl);
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'accounts-app-'));
  const config = loadConfig({
    BCRYPT_COST: '4',
    CLOCK_SKEW_MAX_MS: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'trace',
    ...env,
  });
  const { patience = PATIENCE, vendorTimeoutMs = PATIENT_MS, deadlineMs = DEADLINE_MS } = options;
  const sms = new KeptSms();
  const logFile = join(OUTPUT, `log-${randomBytes(5).toString('hex')}.ndjson`);
  // Synchronous, so that a test finds a line as soon as what it tells of has happened.
  const log = pino.destination({ dest: logFile, sync: true });
  const keys = loadKeys(config);
  const logger = createLogger(config.logLevel, log);
  const traces = await openTraces(config.traces, logger);
  const outside = {
    databaseUrl,
    keys,
    logger,
    ...(options.realSms ? {} : { sms }),
    observers: bothOf(options.metrics, traces),
    deadlineMs,
    patience,
    vendorTimeoutMs,
  };
  const wrap = (operation: Operation) => asDescribed(answerAfter(operation, () => app.beforeOperation(operation.path)));
  const accounts = env.IMAGES === 'only' ? undefined : await buildContainer(config, outside, { wrap });
  const container = accounts ?? (await buildImagesContainer(config, outside));
  options.metrics?.watch(container.services);
  const server = createHttpServer(container.app);
  let smallSockets: SocketServer | undefined;
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  const complaints = asDocumented(server, PUBLIC);
  const url = await listen(server);
  const api =
    config.admin && accounts && buildAdminApi({ config, logger, deadlineMs: DEADLINE_MS, services: accounts.services });
  const adminServer = api && createHttpServer(api.app);
  const adminComplaints = adminServer ? asDocumented(adminServer, ADMIN) : [];
  const owner = testPool(ownerUrl, OWNER_CONNECTIONS);
  // A test may keep a transaction open for as long as it waits for something, and insert many rows in one statement.
  owner.pool.on(
    'connect',
    (client) => void client.query('SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0'),
  );
  const app: TestApp = {
    url,
    adminUrl: adminServer ? await listen(adminServer) : '',
    db: owner.db,
    ownerUrl,
    serviceDb: container.services.connections.db,
    databaseUrl,
    sms,
    inboxToken: rememberSecret(keys.inboxToken),
    sessionCookie: (sid) => {
      const signature = createHmac('sha256', keys.sessionSecrets[0] ?? '')
        .update(sid)
        .digest('base64');
      const value = `s:${sid}.${signature.replace(/=+$/, '')}`;
      return `${sessionCookieName(config.production)}=${encodeURIComponent(value)}`;
    },
    dataDir,
    logged: () => linesOf(logFile),
    api: request(server),
    agent: () => request.agent(server),
    beforeOperation: () => Promise.resolve(),
    smallSocket: async () => {
      const path = join(dataDir, 'small.socket');
      smallSockets ??= createSocketServer((socket) => server.emit('connection', socket));
      if (!smallSockets.listening) await once(smallSockets.listen(path), 'listening');
      return path;
    },
    fullConnections: () => [...connections].filter(({ writableNeedDrain }) => writableNeedDrain).length,
    liveSyncs: () => accounts?.services.lives.count ?? 0,
    announceStop: () => container.announceStop(),
    sweep: () => container.services.parts.sweep(),
    close: async () => {
      await owner.close();
      smallSockets?.close();
      if (adminServer) await closeServer(adminServer);
      api?.close();
      await closeAll(server, container, database);
      await traces?.close();
      log.end();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
      const all = [...complaints, ...adminComplaints];
      if (all.length > 0) throw new Error(all.join('\n'));
    },
  };
  return app;
}

function answerAfter(operation: Operation, first: () => Promise<void>): Operation {
  const answer = operation.answer as (input: object, call: object) => Promise<unknown>;
  return { ...operation, answer: (input: object, call: object) => first().then(() => answer(input, call)) };
}

function linesOf(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

async function closeAll(
  server: Server,
  container: { close(): Promise<void> },
  database: TestDatabase | undefined,
): Promise<void> {
  await closeServer(server);
  await container.close();
  await database?.drop();
}
