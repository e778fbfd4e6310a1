import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a database, or to anything else that speaks TCP, that can be disturbed. On loopback. */
export class FaultProxy {
  private readonly links = new Set<Link>();
  private isStalled = false;
  private isRefusing = false;
  private stallingAt: Buffer | undefined;

  private constructor(
    private readonly server: Server,
    private target: URL,
  ) {}

  static async start(target: string): Promise<FaultProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new FaultProxy(server, new URL(target));
    server.on('connection', (client) => proxy.connectLink(client));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The target's address, by this way. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /**
   * Nothing arrives on either side any more; what is sent meanwhile arrives later, also from whoever has left by then.
   */
  stall(): void {
    this.isStalled = true;
    for (const link of this.links) link.hold();
  }

  /** The same from the moment that a client sends these words. */
  stallAt(words: string): void {
    this.stallingAt = Buffer.from(words);
  }

  get stalled(): boolean {
    return this.isStalled;
  }

  resume(): void {
    this.isStalled = false;
    this.isRefusing = false;
    this.stallingAt = undefined;
    for (const link of this.links) link.resume();
  }

  /** The connections there are fall silent for ever, and stay open; new ones are good. */
  mute(): void {
    for (const link of this.links) link.mute();
  }

  /** From now on it leads elsewhere; all connections break. */
  leadTo(target: string): void {
    this.target = new URL(target);
    this.cut();
  }

  /** All connections break, and new ones do so at once. */
  refuse(): void {
    this.isRefusing = true;
    this.cut();
  }

  /** All connections break. */
  cut(): void {
    for (const link of this.links) link.cut();
  }

  async close(): Promise<void> {
    this.server.close();
    this.cut();
    await once(this.server, 'close');
  }

  private connectLink(client: Socket): void {
    if (this.isRefusing) {
      client.resetAndDestroy();
      return;
    }
    const link = new Link(client, connect(Number(this.target.port), this.target.hostname), (bytes) =>
      this.stallAtWords(bytes),
    );
    this.links.add(link);
    if (this.isStalled) link.hold();
    link.onEnd(() => this.links.delete(link));
  }

  private stallAtWords(bytes: Buffer): void {
    if (this.stallingAt && bytes.includes(this.stallingAt)) this.stall();
  }
}

/** Two connections, and what is on the way between them. */
class Link {
  private held: (() => void)[] | undefined;
  private isMute = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    look: (bytes: Buffer) => void,
  ) {
    client.on('data', (bytes) => {
      look(bytes);
      this.deliverOrHold(() => server.write(bytes));
    });
    server.on('data', (bytes) => this.deliverOrHold(() => client.write(bytes)));
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => this.deliverOrHold(() => server.end()));
    server.on('close', () => this.deliverOrHold(() => client.end()));
  }

  onEnd(ended: () => void): void {
    let open = 2;
    for (const socket of [this.client, this.server])
      socket.once('close', () => {
        open -= 1;
        if (open === 0) ended();
      });
  }

  hold(): void {
    this.held ??= [];
  }

  resume(): void {
    if (this.isMute) return;
    const held = this.held ?? [];
    this.held = undefined;
    for (const deliver of held) deliver();
  }

  mute(): void {
    this.hold();
    this.isMute = true;
  }

  cut(): void {
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }

  private deliverOrHold(deliver: () => void): void {
    if (this.held) this.held.push(deliver);
    else deliver();
  }
}
