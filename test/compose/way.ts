import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import { Calls } from '../faults/calls';
import type { Inbox } from '../faults/person';
import { until } from '../support/until';
import type { Deployment } from './deployment';

const READY_MS = 120_000;

/**
 * The way by which clients on this machine reach a deployment: its proxy over HTTPS, and codes from the stand-in of
 * Twilio.
 */
export class Way {
  readonly calls = new Calls(() => this.proxy);
  readonly inbox: Inbox = { codeFor: (phone) => this.codeFor(phone) };
  /** The certificate with which the proxy signs for localhost. */
  authority = '';
  private proxy = '';
  private vendors = '';

  private constructor(private readonly deployment: Deployment) {}

  static async to(deployment: Deployment): Promise<Way> {
    const way = new Way(deployment);
    await way.findAddresses();
    return way;
  }

  /** Finds ports and certificate again, which change with containers and their volumes. */
  async findAddresses(): Promise<void> {
    await until(async () => (this.authority = await this.deployment.authority()) !== '', READY_MS, 500);
    const [, port] = /:(\d+)$/.exec(await this.deployment.published('proxy', 443)) ?? [];
    this.proxy = `https://localhost:${port}`;
    this.vendors = await this.deployment.published('vendors', 8081);
    // The port is published at one of localhost's two addresses.
    this.calls.overHttps({ ca: this.authority, family: 4 });
    await until(() => this.isReady(), READY_MS, 250);
  }

  async isReady(): Promise<boolean> {
    return (await this.calls.call('/readyz', 'readyz', { method: 'GET' })).status === 200;
  }

  /** Opens a connection to the proxy, for bytes that are not HTTP. */
  connect(): Socket {
    return connect({
      host: '127.0.0.1',
      port: Number(new URL(this.proxy).port),
      servername: 'localhost',
      ca: this.authority,
    });
  }

  close(): void {
    this.calls.close();
  }

  private async codeFor(phone: string): Promise<string | undefined> {
    const answer = await fetch(`http://${this.vendors}/${encodeURIComponent(phone)}`);
    return /\d{6}/.exec(await answer.text())?.[0];
  }
}
