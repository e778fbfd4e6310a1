import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ROOT } from '../support/service-process';
import { until } from '../support/until';

const OBSERVE = join(ROOT, 'deploy', 'observe');
/** All durations of the rules are divided by this. */
const FASTER = 30;
/** An instance may take two seconds to answer while its database is slow. */
const SCRAPE = '3s';
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600 };

interface Rule {
  alert: string;
  expr: string;
  for: string;
}

interface Rules {
  groups: { rules: Rule[] }[];
}

interface Panel {
  title: string;
  targets: { expr: string }[];
}

const rulesOf = () => parse(readFileSync(join(OBSERVE, 'alerts.yml'), 'utf8')) as Rules;

/** Returns the names of all alerts. */
export const alertNames = () => rulesOf().groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

/** Returns the panels of all dashboards. */
export function panels(): Panel[] {
  const folder = join(OBSERVE, 'dashboards');
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { panels: Panel[] };
  return readdirSync(folder).flatMap((name) => read(name).panels);
}

/** Returns the rules of deploy/observe with shorter durations: thresholds and expressions stay the file's own. */
function shortened(): Rules {
  const groups = rulesOf().groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({
      ...rule,
      for: shorter(rule.for),
      expr: rule.expr.replace(/(?<=\[)\w+(?=\])/g, shorter),
    })),
  }));
  return { groups };
}

function shorter(duration: string): string {
  const [, count = '', unit = ''] = /^(\d+)([smh])$/.exec(duration) ?? [];
  if (count === '') throw new Error(`cannot shorten ${duration}`);
  return `${Math.ceil((Number(count) * (SECONDS[unit] ?? 0)) / FASTER)}s`;
}

/** A real Prometheus on loopback, with the rules of deploy/observe in less time. */
export class Prometheus {
  private constructor(
    private readonly program: ChildProcess,
    private readonly folder: string,
    private readonly url: string,
  ) {}

  static missing(): string | undefined {
    const isThere = spawnSync('prometheus', ['--version']).status === 0;
    return isThere ? undefined : 'prometheus is not installed (Debian: apt-get install prometheus)';
  }

  /** Starts it. It reads the metrics of these hosts. */
  static async start(targets: string[]): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'accounts-prometheus-'));
    const config = parse(readFileSync(join(OBSERVE, 'prometheus.yml'), 'utf8')) as {
      global: object;
      scrape_configs: { job_name: string }[];
    };
    config.global = { scrape_interval: SCRAPE, evaluation_interval: '1s' };
    config.scrape_configs = config.scrape_configs.map(({ job_name }) => ({ job_name, static_configs: [{ targets }] }));
    writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
    writeFileSync(join(folder, 'alerts.yml'), stringify(shortened()));
    const address = `127.0.0.1:${await freePort()}`;
    const options = {
      'config.file': join(folder, 'prometheus.yml'),
      'storage.tsdb.path': join(folder, 'data'),
      'web.listen-address': address,
      'log.level': 'error',
    };
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const program = spawn('prometheus', args, { stdio: ['ignore', 'inherit', 'inherit'] });
    const prometheus = new Prometheus(program, folder, `http://${address}`);
    await until(async () => {
      if (program.exitCode !== null) throw new Error('prometheus has ended');
      return fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    return prometheus;
  }

  /** Returns the names of the alerts that fire now, and of those that will unless their condition ends. */
  async alerts(): Promise<{ firing: Set<string>; pending: Set<string> }> {
    const { alerts } = (await this.ask('alerts')) as { alerts: { state: string; labels: { alertname: string } }[] };
    const named = (wanted: string) =>
      new Set(alerts.filter(({ state }) => state === wanted).map(({ labels }) => labels.alertname));
    return { firing: named('firing'), pending: named('pending') };
  }

  /** Returns whether the question of a panel has had an answer since then, in seconds since 1970. */
  async hasData(expr: string, since: number): Promise<boolean> {
    const query = expr.replaceAll('$__rate_interval', '12s');
    const range = new URLSearchParams({ query, start: String(since), end: String(Date.now() / 1_000), step: '1' });
    const { result } = (await this.ask(`query_range?${range.toString()}`)) as {
      result: { values: [number, string][] }[];
    };
    return result.some(({ values }) => values.some(([, value]) => value !== 'NaN'));
  }

  async stop(): Promise<void> {
    const ended = once(this.program, 'exit');
    this.program.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async ask(question: string): Promise<unknown> {
    const answer = await fetch(`${this.url}/api/v1/${question}`);
    const { data, error } = (await answer.json()) as { data?: unknown; error?: string };
    if (error !== undefined) throw new Error(`${question}: ${error}`);
    return data;
  }
}

/** Prometheus does not tell the port that the system gives it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
