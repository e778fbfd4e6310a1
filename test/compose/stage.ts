import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployment } from './deployment';
import { Way } from './way';

/** The deployments of a run. Steps share one, which the first of them starts, or have their own. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'accounts-compose-'));
  private readonly name = `accounts-test-${randomBytes(3).toString('hex')}`;
  private readonly deployments: Deployment[] = [];
  private readonly ways: Way[] = [];
  private main: Promise<Deployment> | undefined;

  /** `more` are override files that the engine needs, such as another name for a base image. */
  constructor(private readonly more: string[]) {}

  deployment(): Promise<Deployment> {
    this.main ??= this.bringUp();
    return this.main;
  }

  async way(): Promise<Way> {
    return this.wayTo(await this.deployment());
  }

  async wayTo(deployment: Deployment): Promise<Way> {
    const way = await Way.to(deployment);
    this.ways.push(way);
    return way;
  }

  /** Returns another deployment, which has not been started. */
  async another(name: string): Promise<Deployment> {
    const deployment = await Deployment.in(join(this.folder, name), `${this.name}-${name}`, this.more);
    this.deployments.push(deployment);
    return deployment;
  }

  async close(): Promise<void> {
    for (const way of this.ways) way.close();
    for (const deployment of this.deployments) await deployment.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async bringUp(): Promise<Deployment> {
    const deployment = await this.another('main');
    await deployment.compose('build');
    await deployment.up();
    return deployment;
  }
}
