import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo, TestCluster } from '../support/clusters';
import { FaultProxy } from '../support/fault-proxy';
import { OUTPUT } from '../support/paths';
import { newDataDir, ServiceProcess, type DataDir } from '../support/service-process';
import { Calls } from './calls';
import { OtherService } from './other-service';
import { Person, type Inbox } from './person';

const PEOPLE = 24;
const PAUSE_MS = 90;
const NEWCOMER_MS = 400;

/** Addresses for a superuser, and for both roles of the service. */
export interface Database {
  url: string;
  ownerUrl: string;
  serviceUrl: string;
  /** Its users and groups are on several servers. */
  isDistributed?: true;
}

export interface Setting {
  instances?: number;
  env?: Record<string, string>;
  /** Further settings of all instances but the first, which the people use. */
  othersEnv?: Record<string, string>;
  /** Pause of a person between two calls. */
  pauseMs?: number;
  diskMegabytes?: number;
  /** The address of the database for the service, if not the proxy's. */
  databaseUrl?: (world: World) => string | Promise<string>;
  /** A database that is not one of this run's own. */
  database?: Database;
  /** Settings of the run's own database. */
  postgres?: Record<string, string>;
  /** People use all instances in turn, instead of the first. */
  inTurn?: boolean;
  /** Pause of a person between two calls about friends and groups, which may be refused. Default: there are none. */
  circlesPauseMs?: number;
  inbox?: Inbox;
}

/** A database, a proxy to it whose connections can be disturbed, instances of the service, and people who use them. */
export class World {
  readonly people: Person[] = [];
  readonly newcomers: Person[] = [];
  readonly instances: ServiceProcess[] = [];
  readonly calls: Calls;
  readonly other: OtherService;
  private readonly files: DataDir = newDataDir();
  private readonly inbox: Inbox;
  private isRunning = false;
  private isPaused = false;
  private going: Promise<unknown> = Promise.resolve();

  private constructor(
    private ownCluster: TestCluster | undefined,
    private readonly ownProxy: FaultProxy | undefined,
    private readonly setting: Setting,
  ) {
    let turn = 0;
    const next = () => (setting.inTurn ? (turn += 1) % this.instances.length : 0);
    this.calls = new Calls(() => this.instances[next()]?.url ?? 'http://127.0.0.1:4');
    this.inbox = setting.inbox ?? new FileInbox(join(this.files.path, 'sms.ndjson'));
    const groups = ['red', 'green', 'blue', 'white'];
    this.other = new OtherService(
      () => this.databaseUrl,
      () => this.people,
      groups,
      () => this.isDistributed,
    );
  }

  static async start(setting: Setting = {}): Promise<World> {
    mkdirSync(OUTPUT, { recursive: true });
    const cluster = setting.database
      ? undefined
      : await TestCluster.start({ max_connections: '200', ...setting.postgres }, setting.diskMegabytes);
    const world = new World(cluster, cluster && (await FaultProxy.start(cluster.serviceUrl)), setting);
    const count = setting.instances ?? 1;
    for (let index = 0; index < count; index += 1) await world.startInstance(index);
    while (world.people.length < PEOPLE) {
      const person = world.newPerson();
      if (!(await person.arrive())) throw new Error('nobody can register');
      world.people.push(person);
    }
    await world.other.makeGroups();
    return world;
  }

  get cluster(): TestCluster {
    return present(this.ownCluster);
  }

  set cluster(cluster: TestCluster) {
    this.ownCluster = cluster;
  }

  get proxy(): FaultProxy {
    return present(this.ownProxy);
  }

  /** The superuser's address. */
  get databaseUrl(): string {
    return this.setting.database?.url ?? this.cluster.url;
  }

  get isDistributed(): boolean {
    return this.setting.database?.isDistributed ?? false;
  }

  get everybody(): Person[] {
    return [...this.people, ...this.newcomers];
  }

  async startInstance(index: number, env: Record<string, string> = {}): Promise<void> {
    const { database } = this.setting;
    const databaseUrl = (await this.setting.databaseUrl?.(this)) ?? database?.serviceUrl ?? this.proxy.url;
    this.instances[index] = await ServiceProcess.start({
      DATABASE_URL: databaseUrl,
      DATABASE_MIGRATION_URL: database?.ownerUrl ?? this.ownerUrl,
      DATA_DIR: this.files.path,
      SMS_PROVIDER: 'file',
      CODE_RESEND_SECONDS: '1',
      SEND_CODE_PER_PHONE_DAY: '0',
      // After an unknown answer a person tries two passwords, and again while the database is down.
      LOGIN_FAILURES_PER_PHONE_AND_IP: '0',
      LOGIN_FAILURES_PER_PHONE_AND_IP_DAY: '0',
      FINDS_PER_USER_MINUTE: '0',
      FINDS_PER_USER_DAY: '0',
      ...this.setting.env,
      ...(index > 0 && this.setting.othersEnv),
      ...env,
    }).untilReady();
  }

  /** Restarts all instances on another database. */
  async useDatabase(database: Database): Promise<void> {
    this.setting.database = database;
    for (const [index, instance] of [...this.instances].entries()) {
      await instance.stop();
      await this.startInstance(index);
    }
  }

  /** Kills the primary for good, while commits wait for a standby, and promotes that. */
  async failOver(): Promise<void> {
    const primary = this.cluster;
    const standby = await primary.standby();
    const client = await connectTo(primary.url);
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await client.query('SELECT pg_reload_conf()');
    await client.end();
    await sleep(4_000);
    await primary.killForGood();
    await standby.promote();
    this.cluster = standby;
    const promoted = await connectTo(standby.url);
    await promoted.query('ALTER SYSTEM RESET synchronous_standby_names');
    await promoted.end();
    this.proxy.leadTo(standby.url);
    await primary.remove();
  }

  /** Starts all people, who make calls in turn, and lets new people come. */
  startPeople(): void {
    this.isRunning = true;
    const { pauseMs = PAUSE_MS, circlesPauseMs = 0 } = this.setting;
    this.going = Promise.all([
      ...this.people.map((person) => this.keep(() => person.act(), pauseMs)),
      ...(circlesPauseMs > 0 ? this.people : []).map((one) => this.keep(() => one.actInCircle(), circlesPauseMs)),
      this.keep(() => this.other.act(), PAUSE_MS / 2),
      this.keep(async () => {
        const person = this.newPerson();
        this.newcomers.push(person);
        await person.arrive();
      }, NEWCOMER_MS),
    ]);
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    await this.going;
  }

  /** Stops new calls, and waits until running ones have ended. */
  async pause(): Promise<void> {
    await this.stop();
    this.isPaused = true;
  }

  resume(): void {
    if (this.isPaused) this.startPeople();
    this.isPaused = false;
  }

  async close(): Promise<void> {
    await this.other.close();
    this.calls.close();
    await Promise.all(this.instances.map((instance) => instance.stop()));
    await this.ownProxy?.close();
    await this.ownCluster?.remove();
    this.files.remove();
  }

  /** The owner's address through the same proxy as the service. */
  private get ownerUrl(): string {
    const url = new URL(this.cluster.url);
    url.host = new URL(this.proxy.url).host;
    return url.href;
  }

  private newPerson(): Person {
    return new Person(this.calls, this.inbox, () => this.people);
  }

  private async keep(doing: () => Promise<unknown>, pauseMs: number): Promise<void> {
    while (this.isRunning) {
      await doing();
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }
}

function present<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('this fault has a database of its own');
  return part;
}

class FileInbox implements Inbox {
  constructor(private readonly path: string) {}

  codeFor(phone: string): string | undefined {
    if (!existsSync(this.path)) return undefined;
    const lines = readFileSync(this.path, 'utf8').trimEnd().split('\n').reverse();
    const line = lines.find((one) => one.includes(`"${phone}"`));
    return line === undefined ? undefined : (JSON.parse(line) as { code: string }).code;
  }
}
