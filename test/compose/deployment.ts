import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until';
import { docker, dockerOutput, type Ended } from './docker';
import { compileForContainers, copyTree, makeCertificate } from './folder';
import { overrideFor, type ComposeConfig } from './override';
import { newSettings, asEnvFile, type Settings } from './settings';

const HEALTHY_MS = 180_000;

export interface Container {
  id: string;
  name: string;
}

/** The compose file, started under a project name, with its own settings, volumes and ports. */
export class Deployment {
  readonly settings: Settings;
  private readonly overrides: string[] = [];

  private constructor(
    readonly project: string,
    readonly folder: string,
    private readonly more: string[],
  ) {
    copyTree(this.tree);
    compileForContainers(this.scripts);
    makeCertificate(this.scripts);
    this.settings = newSettings(this.required);
  }

  /** Makes a deployment in `folder`, with the caller's own override files, which come last. */
  static async in(folder: string, project: string, more: string[] = []): Promise<Deployment> {
    const deployment = new Deployment(project, folder, more);
    deployment.configure();
    deployment.override('override', overrideFor(await deployment.config(), deployment.scripts));
    return deployment;
  }

  get tree(): string {
    return join(this.folder, 'tree');
  }

  get scripts(): string {
    return join(this.folder, 'scripts');
  }

  get image(): string {
    return `${this.project}-service`;
  }

  /** The variables that the compose file marks with `?` or `:?`. */
  get required(): string[] {
    const yaml = readFileSync(join(this.tree, 'docker-compose.yml'), 'utf8');
    return [...new Set([...yaml.matchAll(/\$\{([A-Z_]+):?\?/g)].map(([, name]) => name ?? ''))];
  }

  /** Writes .env. Undefined variables are left out. */
  configure(changed: Record<string, string | undefined> = {}): void {
    const settings = Object.entries({ ...this.settings, ...changed }).filter(([, value]) => value !== undefined);
    writeFileSync(join(this.tree, '.env'), asEnvFile(Object.fromEntries(settings) as Settings), { mode: 0o600 });
  }

  override(name: string, yaml: string): void {
    const path = join(this.folder, `${name}.yml`);
    writeFileSync(path, yaml);
    this.overrides.push(path);
  }

  compose(...args: string[]): Promise<string> {
    return dockerOutput(this.composed(args), { cwd: this.tree });
  }

  /** Runs compose, and returns its result with any status. */
  tryCompose(...args: string[]): Promise<Ended> {
    return docker(this.composed(args), { cwd: this.tree });
  }

  /** Waits until everything has started. If it fails, the error has the logs. */
  async up(...args: string[]): Promise<void> {
    const ended = await this.tryCompose('up', '--detach', '--wait', ...args);
    if (ended.status === 0) return;
    const { stdout } = await this.tryCompose('logs', '--tail', '8');
    throw new Error(`docker compose up ended with ${ended.status}: ${ended.stderr}\n${stdout.trimEnd()}`);
  }

  async config(): Promise<ComposeConfig> {
    return JSON.parse(await this.compose('config', '--format', 'json')) as ComposeConfig;
  }

  /** Returns the loopback address where a port of a container is published. */
  async published(service: string, port: number): Promise<string> {
    return (await this.compose('port', service, String(port))).split('\n')[0] ?? '';
  }

  /** Returns the containers of a service, by number. */
  async containers(service: string): Promise<Container[]> {
    const listed = await this.compose('ps', '--format', '{{.ID}} {{.Name}}', service);
    const containers = listed.split('\n').map((line) => line.split(' '));
    return containers
      .map(([id = '', name = '']) => ({ id, name }))
      .filter(({ id }) => id !== '')
      .sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  }

  async onlyContainer(service: string): Promise<Container> {
    const [container] = await this.containers(service);
    if (!container) throw new Error(`no container of ${service} runs`);
    return container;
  }

  /** Returns what the engine reports about a container, formatted by a template. */
  inspect(container: string, format: string): Promise<string> {
    return dockerOutput(['inspect', '--format', format, container]);
  }

  async healthy(container: string): Promise<void> {
    const isHealthy = async () => (await this.inspect(container, '{{.State.Health.Status}}')) === 'healthy';
    await until(isHealthy, HEALTHY_MS, 500);
  }

  /** Returns the certificate with which the proxy signs for localhost, once it has made it. */
  async authority(): Promise<string> {
    const path = '/data/caddy/pki/authorities/local/root.crt';
    return (await this.tryCompose('exec', '-T', 'proxy', 'cat', path)).stdout;
  }

  sql(statement: string): Promise<string> {
    const psql = ['psql', '--username=accounts', '--dbname=accounts', '--tuples-only', '--no-align', '--command'];
    return this.compose('exec', '-T', 'postgres', ...psql, statement);
  }

  /** Removes everything, whatever a step has left in .env. */
  async remove(): Promise<void> {
    this.configure();
    const options = ['--volumes', '--remove-orphans', '--rmi', 'local', '--timeout', '5'];
    await this.tryCompose('--profile', '*', 'down', ...options);
  }

  private composed(args: string[]): string[] {
    const files = [join(this.tree, 'docker-compose.yml'), ...this.overrides, ...this.more];
    const project = ['--project-name', this.project, '--project-directory', this.tree];
    return ['compose', ...project, ...files.flatMap((file) => ['--file', file]), ...args];
  }
}
