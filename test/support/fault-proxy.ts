import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A proxy on loopback to a database or another TCP server, whose connections can be disturbed. */
export class FaultProxy {
  private readonly links = new Set<Link>();
  private isStalled = false;
  private isRefusing = false;
  private stallingAt: Buffer | undefined;
  private cuttingAt: Buffer | undefined;
  private losingAt: Buffer | undefined;
  private hasLost = false;
  private refusedCount = 0;

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

  /** The target's address through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /**
   * Stops data in both directions. Data sent during the stall arrives later, even from clients that have left by then.
   */
  stall(): void {
    this.isStalled = true;
    for (const link of this.links) link.hold();
  }

  /** Stalls like `stall` as soon as a client sends these words. */
  stallAt(words: string): void {
    this.stallingAt = Buffer.from(words);
  }

  /** Breaks each connection whose client sends these words, which are not delivered. */
  cutAt(words: string): void {
    this.cuttingAt = Buffer.from(words);
  }

  /** Delivers these words to the target as soon as a client sends them, and drops all answers on their connection. */
  loseAnswerTo(words: string): void {
    this.losingAt = Buffer.from(words);
    this.hasLost = false;
  }

  /** Whether an answer is lost, or will be. */
  get lost(): boolean {
    return this.hasLost;
  }

  /** Connections refused so far. */
  get refused(): number {
    return this.refusedCount;
  }

  get stalled(): boolean {
    return this.isStalled;
  }

  resume(): void {
    this.isStalled = false;
    this.isRefusing = false;
    this.stallingAt = undefined;
    this.cuttingAt = undefined;
    this.losingAt = undefined;
    for (const link of this.links) link.resume();
  }

  /** Stalls the existing connections until the returned function is called. New ones work. */
  stallPresent(): () => void {
    const present = [...this.links];
    for (const link of present) link.hold();
    return () => present.forEach((link) => link.resume());
  }

  /** Silences the existing connections for ever but leaves them open. New ones work. */
  mute(): void {
    for (const link of this.links) link.mute();
  }

  /** Breaks all connections, and sends new ones to another target. */
  leadTo(target: string): void {
    this.target = new URL(target);
    this.cut();
  }

  /** Breaks all connections, and new ones at once. */
  refuse(): void {
    this.isRefusing = true;
    this.cut();
  }

  /** Breaks all connections. */
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
      this.refusedCount += 1;
      client.resetAndDestroy();
      return;
    }
    const link = new Link(client, connect(Number(this.target.port), this.target.hostname), (bytes) =>
      this.actOnWords(link, bytes),
    );
    this.links.add(link);
    if (this.isStalled) link.hold();
    link.onEnd(() => this.links.delete(link));
  }

  private actOnWords(link: Link, bytes: Buffer): void {
    if (this.cuttingAt && bytes.includes(this.cuttingAt)) link.cut();
    if (this.stallingAt && bytes.includes(this.stallingAt)) this.stall();
    if (!this.losingAt || !bytes.includes(this.losingAt)) return;
    this.losingAt = undefined;
    this.hasLost = true;
    link.loseAnswers();
  }
}

/** Two connections, and the data held between them. */
class Link {
  private held: (() => void)[] | undefined;
  private isMute = false;
  private losesAnswers = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    look: (bytes: Buffer) => void,
  ) {
    client.on('data', (bytes) => {
      look(bytes);
      this.deliverOrHold(() => server.write(bytes));
    });
    server.on('data', (bytes) => {
      if (!this.losesAnswers) this.deliverOrHold(() => client.write(bytes));
    });
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

  loseAnswers(): void {
    this.losesAnswers = true;
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
